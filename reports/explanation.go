package reports

// Explain is all that there is to say about a scenario that did not pass: each step that broke it in full, and where to
// look further.
func Explain(s *Scenario) string { return explanation(s) }

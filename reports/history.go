package reports

import "time"

// HistoryFile is what a scenario's history is called in its folder.
const HistoryFile = "history.jsonl"

// HistoryLine is one line of a history: the beginning of a step, a change of an object, a gap in which a resource was
// not watched, or, at the end, the managers of an object's fields. Changes are in the order in which the API server
// made them.
type HistoryLine struct {
	// Kind of the line: step, change, gap or managers.
	Line string    `json:"line"`
	At   time.Time `json:"at"`
	// Step is the number of the step that begins, or in which the change came, from 1; 0 before the first.
	Step int `json:"step"`

	// Title, Verb and State are of a step: its title, its verb, and the state that the cluster was in.
	Title string `json:"title,omitempty"`
	Verb  string `json:"verb,omitempty"`
	State string `json:"state,omitempty"`

	// Change is added, modified or deleted; or present, for what was there when the scenario began.
	Change          string `json:"change,omitempty"`
	Resource        string `json:"resource,omitempty"`
	APIVersion      string `json:"apiVersion,omitempty"`
	Kind            string `json:"kind,omitempty"`
	Namespace       string `json:"namespace,omitempty"`
	Name            string `json:"name,omitempty"`
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Relisted: only a list found the change, or the end of the gap.
	Relisted bool `json:"relisted,omitempty"`
	// Object is the whole object, or Patch the JSON merge patch from its state before; Dropped says that the state is no
	// longer known.
	Object  map[string]any `json:"object,omitempty"`
	Patch   map[string]any `json:"patch,omitempty"`
	Dropped bool           `json:"dropped,omitempty"`

	// Until is the end of a gap, which lasts without one; Error is why, or why managers are not known.
	Until *time.Time `json:"until,omitempty"`
	Error string     `json:"error,omitempty"`

	// Managers of the object's fields: in a change those just after it, known for the last 100 changes of a scenario that
	// failed, where the storage still had them; in a line of their own those when the scenario ended, where the object was
	// still there.
	Managers []FieldManager `json:"managers,omitempty"`
}

// FieldManager is an entry of an object's managedFields: who set some fields last.
type FieldManager struct {
	// Name of the manager, and in Subresource what it wrote to; "" for the object itself.
	Name        string `json:"name"`
	Subresource string `json:"subresource,omitempty"`
	// Fields as fieldsV1 has them.
	Fields map[string]any `json:"fields"`
}

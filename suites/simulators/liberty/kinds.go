package liberty

// OfControllers are the liberties that every system with controllers can take.
func OfControllers() []Liberty {
	return []Liberty{
		{Name: Late, Sentence: "Each reconcile is late by a random time of up to 3 s, so that objects are looked at in " +
			"another order."},
		{Name: FailsFirst, Sentence: "One in four reconciles returns an error before it does anything, and is tried again."},
		{Name: FailsAfter, Sentence: "One in four reconciles returns an error after it has done everything, and is tried " +
			"again."},
		{Name: Twice, Sentence: "Each object is reconciled twice in a row."},
		{Name: Conflicts, Sentence: "One in four updates conflicts with somebody else's."},
		{Name: AnswersLost, Sentence: "The answer to one in six writes is lost, so that what was written is written again."},
		{Name: WrittenTwice, Sentence: "Each object that is written is written once more, with another annotation."},
		{Name: MadeTwice, Sentence: "Objects that nobody uses yet are deleted and made anew when they were just made."},
		{Name: MoreMetadata, Sentence: "Objects have a label and an annotation that the specification does not name."},
		{Name: LooseOwners, Sentence: "Owner references do not block the deletion of the owner."},
	}
}

// OfPrograms are the liberties that every system can take that is one program.
func OfPrograms() []Liberty {
	return []Liberty{
		{Name: Restarts, Sentence: "The program starts again every few seconds, whatever it is doing."},
	}
}

// OfManagers are the liberties of programs that can have replicas.
func OfManagers() []Liberty {
	return append(OfPrograms(), Liberty{Name: Replicas, Sentence: "There are two replicas, and every few seconds the " +
		"other one becomes the leader."})
}

// OfWebhooks are the liberties that every webhook can take; refusals are the requirements about what it refuses.
func OfWebhooks(refusals []string) []Liberty {
	return []Liberty{
		{Name: OtherWords, Sentence: "A refusal is a plain 403 in other words, without a cause or a field, where the " +
			"specification asks for no words.", About: refusals},
		{Name: Warnings, Sentence: "Each answer has a warning.", About: refusals},
		{Name: SlowAnswers, Sentence: "Each answer takes a random time of up to 1 s."},
	}
}

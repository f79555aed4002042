package liberty

// OfControllers are the liberties of any system with controllers.
func OfControllers() []Liberty {
	return []Liberty{
		{Name: Late, Sentence: "Each reconcile is late by a random time of up to 3 s, so objects are reconciled in " +
			"another order."},
		{Name: FailsFirst, Sentence: "One in four reconciles returns an error before it does anything, and is retried."},
		{Name: FailsAfter, Sentence: "One in four reconciles returns an error after it has done everything, and is " +
			"retried."},
		{Name: Twice, Sentence: "Each object is reconciled twice in a row."},
		{Name: Conflicts, Sentence: "One in four updates conflicts with another one."},
		{Name: AnswersLost, Sentence: "The answer to one in six writes is lost, so the write is repeated."},
		{Name: WrittenTwice, Sentence: "Each write is repeated with another annotation."},
		{Name: MadeTwice, Sentence: "New objects that are not in use yet are deleted and created again."},
		{Name: MoreMetadata, Sentence: "Objects have a label and an annotation that the specification does not mention."},
		{Name: LooseOwners, Sentence: "Owner references do not block the deletion of the owner."},
	}
}

// OfPrograms are the liberties of any system that is a single program.
func OfPrograms() []Liberty {
	return []Liberty{
		{Name: Restarts, Sentence: "The program restarts every few seconds, whatever it is doing."},
	}
}

// OfManagers are the liberties of programs that can have replicas.
func OfManagers() []Liberty {
	return append(OfPrograms(), Liberty{Name: Replicas, Sentence: "There are two replicas, and every few seconds the " +
		"other one becomes the leader."})
}

// OfWebhooks are the liberties of any webhook; rejections are the requirements about its rejections.
func OfWebhooks(rejections []string) []Liberty {
	return []Liberty{
		{Name: OtherWords, Sentence: "A rejection is a plain 403 in other words, without a cause or a field, where the " +
			"specification requires no message.", About: rejections},
		{Name: Warnings, Sentence: "Each answer has a warning.", About: rejections},
		{Name: SlowAnswers, Sentence: "Each answer takes a random time of up to 1 s."},
	}
}

package simulator

import (
	"context"
	"errors"

	"k8s.io/apiserver/pkg/warning"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/engine"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

// Liberties lists the allowed differences of the simulator.
func Liberties() []liberty.Liberty {
	return []liberty.Liberty{
		{Name: liberty.OtherWords, Sentence: "A rejection has additional words around the specification's, and " +
			"neither a field nor a cause."},
		{Name: liberty.Warnings, Sentence: "Each answer to a write has a warning."},
		{Name: liberty.SlowAnswers, Sentence: "Each answer to a write takes a random time of up to 1 s."},
		{Name: liberty.MoreMetadata, Sentence: "Package revisions have a label and an annotation that the specification " +
			"does not mention."},
		{Name: liberty.Late, Sentence: "The condition of a repository is written up to 3 s later."},
	}
}

// liberal applies liberties to a new or changed revision.
func liberal(ctx context.Context, liberties liberty.Set, revision *v1alpha1.PackageRevision) {
	liberties.Linger(ctx, revision.Name)
	if liberties.Has(liberty.Warnings) {
		warning.AddWarning(ctx, "", "this is good to know, and says nothing about the request")
	}
	if liberties.Has(liberty.MoreMetadata) {
		liberty.Adorn(revision)
	}
}

// otherwise returns a rejection in other words.
func otherwise(liberties liberty.Set, err error) error {
	var rejection *engine.Rejection
	if !liberties.Has(liberty.OtherWords) || !errors.As(err, &rejection) {
		return err
	}
	return &engine.Rejection{
		Class: rejection.Class, Text: "this cannot be done: " + rejection.Text + " (see the documentation)",
	}
}

package simulator

import (
	"context"
	"errors"

	"k8s.io/apiserver/pkg/warning"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/engine"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

// Liberties lists the ways in which the simulator can be different and right.
func Liberties() []liberty.Liberty {
	return []liberty.Liberty{
		{Name: liberty.OtherWords, Sentence: "A refusal has more words around those that the specification gives, and " +
			"neither a field nor a cause."},
		{Name: liberty.Warnings, Sentence: "Each answer to a write has a warning."},
		{Name: liberty.SlowAnswers, Sentence: "Each answer to a write takes a random time of up to 1 s."},
		{Name: liberty.MoreMetadata, Sentence: "Package revisions have a label and an annotation that the specification " +
			"does not name."},
		{Name: liberty.Late, Sentence: "Whether a repository can be reached is said up to 3 s later."},
	}
}

// liberal does with a new or changed revision what liberties have it do.
func liberal(ctx context.Context, liberties liberty.Set, revision *v1alpha1.PackageRevision) {
	liberties.Linger(ctx, revision.Name)
	if liberties.Has(liberty.Warnings) {
		warning.AddWarning(ctx, "", "this is good to know, and says nothing about the request")
	}
	if liberties.Has(liberty.MoreMetadata) {
		liberty.Adorn(revision)
	}
}

// otherwise says a refusal in other words.
func otherwise(liberties liberty.Set, err error) error {
	var refusal *engine.Refusal
	if !liberties.Has(liberty.OtherWords) || !errors.As(err, &refusal) {
		return err
	}
	return &engine.Refusal{Class: refusal.Class, Text: "this cannot be done: " + refusal.Text + " (see the documentation)"}
}

package simulator

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/engine"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

const (
	libertyWithoutEffect = "immutable-without-effect"
	libertyWrittenAgain  = "written-again"
	libertyBusy          = "busy-is-conflict"
)

// againPause is the time after which a new revision is written once more.
const againPause = 300 * time.Millisecond

// Liberties lists the allowed differences of the simulator.
func Liberties() []liberty.Liberty {
	return []liberty.Liberty{
		{Name: liberty.OtherWords, Sentence: "A rejection has additional words around the specification's, and " +
			"neither a field nor a cause."},
		{Name: liberty.Warnings, Sentence: "Each answer to a write has a warning."},
		{Name: liberty.SlowAnswers, Sentence: "Each answer to a write takes a random time of up to 1 s."},
		{Name: liberty.MoreMetadata, Sentence: "Package revisions have a label and an annotation that the specification " +
			"does not mention."},
		{
			Name: libertyWithoutEffect, Sentence: "An update of what is immutable is accepted without this change.",
			About: []string{"PORCH-P12", "PORCH-P13", "PORCH-P14", "PORCH-AMB1", "PORCH-AMB3"},
		},
		{Name: libertyWrittenAgain, Sentence: "The server writes a new revision once more, a moment after its creation."},
		{Name: libertyBusy, Sentence: "An update is rejected as a conflict while another one of the same revision is " +
			"in progress."},
		{Name: liberty.Late, Sentence: "The condition of a repository is written up to 3 s later."},
	}
}

// liberal applies liberties to a new or changed revision.
func liberal(ctx context.Context, liberties liberty.Set, revision *v1alpha1.PackageRevision) {
	liberties.Linger(ctx, revision.Name)
	if liberties.Takes(liberty.Warnings) {
		warning.AddWarning(ctx, "", "this is good to know, and says nothing about the request")
	}
	if liberties.Takes(liberty.MoreMetadata) {
		liberty.Adorn(revision)
	}
}

// ignores reports whether a rejected change is ignored instead of rejecting the update.
func ignores(liberties liberty.Set, err error) bool {
	var rejection *engine.Rejection
	return errors.As(err, &rejection) && rejection.Immutable && liberties.Takes(libertyWithoutEffect)
}

// writeAgain writes a new revision once more a moment later.
func writeAgain(ctx context.Context, r *revisions, created *v1alpha1.PackageRevision) {
	ctx = withRequest(context.WithoutCancel(ctx), &request{unjudged: true})
	time.AfterFunc(againPause, func() {
		defer r.locks.lock(created.Namespace)()
		revision, err := r.get(ctx, created.Name)
		if err == nil && revision.UID == created.UID {
			metav1.SetMetaDataAnnotation(&revision.ObjectMeta, "simulator.rehearse.dev/written-again", "yes")
			_, _, err = r.Store.Update(ctx, revision.Name, rest.DefaultUpdatedObjectInfo(revision), nil, nil, false,
				&metav1.UpdateOptions{})
		}
		if err != nil && !apierrors.IsNotFound(err) {
			r.logger.Error(err, "a revision could not be written again", "revision", created.Name)
		}
	})
}

// otherwise returns a rejection in other words.
func otherwise(liberties liberty.Set, err error) error {
	var rejection *engine.Rejection
	if !errors.As(err, &rejection) || !liberties.Takes(liberty.OtherWords) {
		return err
	}
	return &engine.Rejection{
		Class: rejection.Class, Text: "this cannot be done: " + rejection.Text + " (see the documentation)",
	}
}

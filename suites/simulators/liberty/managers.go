package liberty

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

// The liberties that any manager can take.
const (
	Restarts = "restarts"
	Replicas = "two-replicas"
)

// life is how long a manager runs that a liberty restarts: a random time between the two.
type life struct{ shortest, longest time.Duration }

// firstLife is so short that even on a cluster that exists for a few seconds there is a restart.
var firstLife, laterLife = life{time.Second, 3 * time.Second}, life{8 * time.Second, 25 * time.Second}

// Part is what one manager does.
type Part struct {
	// Webhooks: it serves the webhooks. Controllers: it runs the controllers.
	Webhooks, Controllers bool
	// Elected: it runs the controllers only while it is the leader.
	Elected bool
}

// Elect enables leader election for a manager, if its part requires that. Its controllers then run only while it is the
// leader.
func (p Part) Elect(o *manager.Options, id string) {
	if !p.Elected {
		return
	}
	lease, renew, retry := 3*time.Second, 2*time.Second, 300*time.Millisecond
	o.LeaderElection, o.LeaderElectionID, o.LeaderElectionNamespace, o.LeaderElectionReleaseOnCancel = true, id,
		"kube-system", true
	o.LeaseDuration, o.RenewDeadline, o.RetryPeriod = &lease, &renew, &retry
}

// Manage runs managers until the context ends or one of them fails. By default, there is one manager. The liberty
// Restarts restarts it from time to time. The liberty Replicas runs one manager for the webhooks and two for the
// controllers. These two elect a leader, which is restarted from time to time.
func (s Set) Manage(ctx context.Context, build func(context.Context, Part) (manager.Manager, error)) error {
	if !s.Has(Replicas) {
		return s.live(ctx, "manager", Part{Webhooks: true, Controllers: true}, build)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.live(ctx, "webhooks", Part{Webhooks: true}, build) })
	for _, name := range []string{"first", "second"} {
		group.Go(func() error { return s.live(ctx, name, Part{Controllers: true, Elected: true}, build) })
	}
	return group.Wait()
}

// live runs a manager, and starts a new one whenever a liberty has stopped it.
func (s Set) live(ctx context.Context, name string, part Part, build func(context.Context, Part) (manager.Manager,
	error),
) error {
	for lives := firstLife; ; lives = laterLife {
		m, err := build(ctx, part)
		if err != nil {
			return err
		}
		short, stop := context.WithCancel(ctx)
		if part.Elected || s.Has(Restarts) {
			go s.end(short, name, lives, m.Elected(), stop)
		}
		err = m.Start(short)
		ended := short.Err() != nil
		stop()
		if !ended || ctx.Err() != nil {
			return err
		}
		s.Takes(Restarts)
		if part.Elected {
			s.Takes(Replicas)
		}
	}
}

// Serve serves until the context ends. With the liberty Restarts, it stops and starts again and again.
func (s Set) Serve(ctx context.Context, once func(context.Context) error) error {
	if !s.Has(Restarts) {
		return once(ctx)
	}
	serves := make(chan struct{})
	close(serves)
	for lives := firstLife; ; lives = laterLife {
		short, stop := context.WithCancel(ctx)
		go s.end(short, "server", lives, serves, stop)
		err := once(short)
		ended := short.Err() != nil
		stop()
		if !ended || ctx.Err() != nil {
			return err
		}
		s.Takes(Restarts)
	}
}

// end stops a manager or server some time after it has become the leader or started.
func (s Set) end(ctx context.Context, name string, lives life, leads <-chan struct{}, stop func()) {
	select {
	case <-leads:
	case <-ctx.Done():
		return
	}
	of := Restarts
	if !s.Has(Restarts) {
		of = Replicas
	}
	if pauses.For(ctx, lives.shortest+time.Duration(s.roll(of, name)*float64(lives.longest-lives.shortest))) {
		stop()
	}
}

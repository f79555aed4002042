package convergence

import (
	"context"
	"errors"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/diagnosis"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/live"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/waiting"
)

// blame adds to a timeout error which component has not become ready. It checks etcd first and then the API server: a
// component that only waits for another is not to blame. It does not change an error that already names a component.
func (c *changer) blame(ctx context.Context, change *nodeChange, err error) error {
	var late *waiting.LateError
	var told *clusters.BrokenError
	if !errors.As(err, &late) || errors.As(err, &told) {
		return err
	}
	inOrder := slices.Clone(change.replacements)
	slices.SortStableFunc(inOrder, func(a, b *replacement) int { return needed(a.component) - needed(b.component) })
	for _, r := range inOrder {
		look, cancel := context.WithTimeout(ctx, live.OneLook)
		words := c.isNew(look, change, r)
		cancel()
		if words == nil {
			continue
		}
		log, logErr := diagnosis.LastWords(ctx, change.node, r.component)
		if logErr != nil {
			log = "its log cannot be read: " + logErr.Error()
		}
		return &clusters.BrokenError{Component: r.component, Words: words.Error() + "\n" + diagnosis.Plain(log), Err: err}
	}
	return err
}

// needed returns a component's position in the order of dependencies: etcd first.
func needed(component clusters.Component) int {
	switch component {
	case clusters.Etcd:
		return 0
	case clusters.APIServer:
		return 1
	}
	return 2
}

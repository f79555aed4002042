package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A new API server does not know the time before it started, so a watch cannot be resumed there (410). But the
// storage keeps its revisions for some minutes, and each of them can be listed. What happened in between is read from
// there.
const (
	// mostBridged is how many revisions are read at most, bridgedAtOnce how many at a time, bridgeWithin how long that
	// may take.
	mostBridged   = 10_000
	bridgedAtOnce = 8
	bridgeWithin  = 20 * time.Second
)

var errNoBridge = errors.New("the storage does not show what happened in between")

// told is an event that no watch reported, as a watch would have reported it.
type told struct {
	revision uint64
	object   *unstructured.Unstructured
	deleted  bool
}

// bridge is the time between the last event of the watch and a list.
type bridge struct {
	*Stream
	from, to uint64
	// before and after are the objects at its two ends.
	before, after map[[2]string]identity
	// added holds the revisions at which objects were added.
	added  map[uint64]bool
	events []told
}

// bridge returns everything that happened between the last event of the watch and a list, in order. An error means
// that the API server is away and must be asked again. ok is false if the list of events is incomplete.
func (s *Stream) bridge(ctx context.Context, objects []*unstructured.Unstructured, listed string) (events []told,
	ok bool, err error,
) {
	b := &bridge{Stream: s, after: map[[2]string]identity{}}
	if !b.ends(objects, listed) {
		return nil, false, nil
	}
	limited, cancel := context.WithTimeout(ctx, bridgeWithin)
	defer cancel()
	again := new(retry)
	for again.next(limited) {
		err = b.read(limited, objects)
		switch {
		case err == nil:
			slices.SortFunc(b.events, func(a, b told) int { return cmp.Compare(a.revision, b.revision) })
			return b.events, true, nil
		case errors.Is(err, errNoBridge), unreadable(err):
			return nil, false, nil
		case !answered(err) && limited.Err() == nil:
			return nil, false, err
		}
	}
	return nil, false, ctx.Err()
}

// answered reports whether the API server answered with an error: it is not away.
func answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}

// unreadable reports whether the API server says that it cannot list the past. Other errors pass: a server that has
// just started is busy, or does not authorize anybody yet.
func unreadable(err error) bool {
	return apierrors.IsGone(err) || apierrors.IsResourceExpired(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsNotFound(err) || apierrors.IsInvalid(err) || apierrors.IsMethodNotSupported(err)
}

func (s *Stream) mayBridge(may bool) {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	s.bridgeable = may
}

// ends finds the two ends. It returns false if they cannot be bridged.
func (b *bridge) ends(objects []*unstructured.Unstructured, listed string) bool {
	b.recorder.mu.RLock()
	defer b.recorder.mu.RUnlock()
	var err1, err2 error
	b.from, err1 = strconv.ParseUint(b.progress, 10, 64)
	b.to, err2 = strconv.ParseUint(listed, 10, 64)
	if !b.listed || !b.bridgeable || b.missed || errors.Join(err1, err2) != nil || b.to < b.from ||
		b.to-b.from > mostBridged {
		return false
	}
	b.before = map[[2]string]identity{}
	for namespace, names := range b.current {
		for name, r := range names {
			b.before[[2]string{namespace, name}] = identity{namespace, name, r.UID, r.ResourceVersion}
		}
	}
	for _, o := range objects {
		b.after[[2]string{o.GetNamespace(), o.GetName()}] = identity{
			o.GetNamespace(), o.GetName(), o.GetUID(),
			o.GetResourceVersion(),
		}
	}
	return true
}

// read collects the events. Each revision changes one object, so the number of objects shows whether one was added or
// deleted. Each state names the revision that made it, and so leads to the state before.
func (b *bridge) read(ctx context.Context, objects []*unstructured.Unstructured) error {
	counts, err := b.counts(ctx)
	if err != nil {
		return err
	}
	b.added = map[uint64]bool{}
	var gone []told
	for i := 1; i < len(counts); i++ {
		if counts[i] == counts[i-1] {
			continue
		}
		revision := b.from + uint64(i)
		one, err := b.difference(ctx, revision)
		if err != nil {
			return err
		}
		if counts[i] > counts[i-1] {
			b.added[revision] = true
			continue
		}
		last, err := b.stateAt(ctx, revision-1, one.namespace, one.name)
		if err != nil {
			return err
		}
		deleted := last.DeepCopy()
		deleted.SetResourceVersion(strconv.FormatUint(revision, 10))
		gone = append(gone, told{revision, deleted, true})
		objects = append(objects, last)
	}
	b.events = gone
	for _, object := range objects {
		if err := b.walk(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// walk collects the states of an object from the given one back to its first, or to the last that was reported.
func (b *bridge) walk(ctx context.Context, object *unstructured.Unstructured) error {
	for {
		revision, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
		if err != nil || revision > b.to {
			return errNoBridge
		}
		if revision <= b.from {
			return nil
		}
		b.events = append(b.events, told{revision: revision, object: object})
		if b.added[revision] {
			return nil
		}
		if object, err = b.stateAt(ctx, revision-1, object.GetNamespace(), object.GetName()); err != nil {
			return err
		}
	}
}

// counts returns how many objects there were at each revision, from the first to the last.
func (b *bridge) counts(ctx context.Context) ([]int64, error) {
	counts := make([]int64, b.to-b.from+1)
	last := len(counts) - 1
	unchanged := b.unchanged(ctx)
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(bridgedAtOnce)
	for i := 1; i < last; i++ {
		if unchanged(b.from + uint64(i)) {
			continue
		}
		reading.Go(func() (err error) {
			counts[i], err = b.countAt(ctx, b.from+uint64(i))
			return err
		})
	}
	if err := reading.Wait(); err != nil {
		return nil, err
	}
	counts[0] = int64(len(b.before))
	for i := 1; i < last; i++ {
		if unchanged(b.from + uint64(i)) {
			counts[i] = counts[i-1]
		}
	}
	counts[last] = int64(len(b.after))
	return counts, nil
}

// unchanged reports of a revision whether it certainly changed no object of the resource.
func (b *bridge) unchanged(ctx context.Context) func(revision uint64) bool {
	if b.recorder.writes == nil {
		return func(uint64) bool { return false }
	}
	revisions, err := b.recorder.writes(ctx, b.resource.GroupResource(), int64(b.from), int64(b.to))
	if err != nil { // the API server may still have all revisions
		return func(uint64) bool { return false }
	}
	changed := make(map[uint64]bool, len(revisions))
	for _, revision := range revisions {
		changed[uint64(revision)] = true
	}
	return func(revision uint64) bool { return !changed[revision] }
}

func (b *bridge) countAt(ctx context.Context, revision uint64) (int64, error) {
	options := exactly(revision)
	options.Limit = 1
	page, err := getPage(ctx, b.recorder.metadata.Resource(b.resource).List, options)
	switch {
	case err != nil:
		return 0, fmt.Errorf("counting %s: %w", b.resource.GroupResource(), withoutURL(err))
	case page.GetContinue() == "":
		return int64(len(page.Items)), nil
	case page.GetRemainingItemCount() == nil:
		return 0, errNoBridge
	}
	return int64(len(page.Items)) + *page.GetRemainingItemCount(), nil
}

// difference returns the one object that a revision added or deleted.
func (b *bridge) difference(ctx context.Context, revision uint64) (identity, error) {
	before, err1 := b.allAt(ctx, revision-1)
	after, err2 := b.allAt(ctx, revision)
	if err := errors.Join(err1, err2); err != nil {
		return identity{}, err
	}
	var different []identity
	for key, one := range before {
		if _, there := after[key]; !there {
			different = append(different, one)
		}
	}
	for key, one := range after {
		if _, there := before[key]; !there {
			different = append(different, one)
		}
	}
	if len(different) != 1 {
		return identity{}, errNoBridge
	}
	return different[0], nil
}

func (b *bridge) allAt(ctx context.Context, revision uint64) (map[[2]string]identity, error) {
	switch revision {
	case b.from:
		return b.before, nil
	case b.to:
		return b.after, nil
	}
	all := map[[2]string]identity{}
	options := exactly(revision)
	options.Limit = b.recorder.pageSize
	for {
		page, err := getPage(ctx, b.recorder.metadata.Resource(b.resource).List, options)
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", b.resource.GroupResource(), withoutURL(err))
		}
		for i := range page.Items {
			o := &page.Items[i]
			all[[2]string{o.Namespace, o.Name}] = identity{o.Namespace, o.Name, o.UID, o.ResourceVersion}
		}
		if options = (metav1.ListOptions{Limit: options.Limit, Continue: page.GetContinue()}); options.Continue == "" {
			return all, nil
		}
	}
}

// stateAt returns an object as it was at a revision at which it is known to have existed.
func (b *bridge) stateAt(ctx context.Context, revision uint64, namespace, name string) (*unstructured.Unstructured,
	error,
) {
	object, err := b.recorder.objectAt(ctx, b.resource, revision, namespace, name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s of %s: %w", name, b.resource.GroupResource(), withoutURL(err))
	case object == nil:
		return nil, errNoBridge
	}
	withoutManagedFields(object)
	return object, nil
}

// objectAt reads an object as it was at a revision; nil if it did not exist.
func (r *Recorder) objectAt(ctx context.Context, resource schema.GroupVersionResource, revision uint64,
	namespace, name string,
) (*unstructured.Unstructured, error) {
	options := exactly(revision)
	options.FieldSelector = Scope{Name: name}.listOptions().FieldSelector
	get := r.client.Resource(resource).List
	if namespace != "" {
		get = r.client.Resource(resource).Namespace(namespace).List
	}
	page, err := getPage(ctx, get, options)
	if err != nil || len(page.Items) != 1 {
		return nil, err
	}
	return &page.Items[0], nil
}

func exactly(revision uint64) metav1.ListOptions {
	return metav1.ListOptions{
		ResourceVersion:      strconv.FormatUint(revision, 10),
		ResourceVersionMatch: metav1.ResourceVersionMatchExact,
	}
}

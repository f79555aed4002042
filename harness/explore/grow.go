package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/reports/explorations"
)

// grow generates the corpus, in a cluster that goes along the path. At each new state it tries the objects of the
// states before, and grows further ones.
func (e *exploration) grow(ctx context.Context) error {
	e.kinds, e.servedNames = map[string]*explorations.Kind{}, map[string]bool{}
	scratch := &disposable{exploration: e}
	defer scratch.remove()
	if err := scratch.replace(ctx, e.Path[0]); err != nil {
		return err
	}
	been := map[string]bool{}
	began := time.Now()
	for i, state := range e.Path {
		if been[nameOf(state)] || e.timeUp("objects that only "+nameOf(state)+" accepts") {
			continue
		}
		been[nameOf(state)] = true
		if i > 0 {
			if came, err := scratch.reach(ctx, state); err != nil {
				return err
			} else if !came {
				continue
			}
		}
		err := e.growAt(ctx, scratch.cluster, nameOf(state))
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(context.Cause(e.limit), errLate) && err != nil:
			e.timeUp("further objects at " + nameOf(state))
		case err != nil:
			return err
		}
	}
	if len(e.kinds) == 0 && !e.dealing.idle() && e.limit.Err() == nil {
		return fmt.Errorf("no state of the path serves a kind named %s", strings.Join(e.Kinds, ", "))
	}
	if e.limit.Err() == nil {
		e.report.Unjudged = append(e.report.Unjudged, e.neverServed(e.servedNames)...)
	}
	if took := time.Since(began).Seconds(); took > 0 {
		e.report.PerSecond = float64(e.report.DryRuns) / took
	}
	e.report.Tried = len(e.corpus)
	return nil
}

func (e *exploration) growAt(ctx context.Context, cluster clusters.Cluster, state string) error {
	client, found, err := e.ready(ctx, cluster)
	if err != nil {
		return err
	}
	e.report.Unjudged = append(e.report.Unjudged, e.unexplored(found, state)...)
	e.noteServed(found, e.servedNames)
	kinds := slices.DeleteFunc(found.Kinds, func(k *fields.Kind) bool { return !e.wanted(k) })
	if len(kinds) == 0 {
		e.Progress("%s serves no kind named %s", state, strings.Join(e.Kinds, ", "))
		return nil
	}
	if kinds = e.dealing.deal(e.Shard, kinds); len(kinds) == 0 {
		e.Progress("other shards explore the kinds of %s", state)
		return nil
	}
	before := client.Requests()
	defer func() { e.report.DryRuns += client.Requests() - before }()
	e.Progress("trying %d objects of other states at %s", len(e.corpus), state)
	if err := e.tryAll(e.limit, client, kinds, state); err != nil {
		return err
	}
	e.Progress("growing objects of %d kinds at %s", len(kinds), state)
	grown, err := growth.All(e.limit, growth.Options{
		Client: client, Kinds: kinds, Known: e.known(state), Progress: e.Progress,
	})
	e.gather(grown, state)
	return err
}

// userAgent is the user agent of an exploration's clients.
const userAgent = "rehearse-explore"

// clientsOf returns the client that sends objects to a cluster, and the one that discovers its kinds.
func (e Options) clientsOf(cluster clusters.Cluster) (*growth.Client, discovery.DiscoveryInterface, error) {
	found, err := discovery.NewDiscoveryClientForConfig(writes.Configure(cluster.RESTConfig(), userAgent))
	if err != nil {
		return nil, nil, fmt.Errorf("make a client for cluster %s: %w", cluster.Name(), err)
	}
	return growth.NewClient(found.RESTClient(), e.Workers), found, nil
}

// ready creates what the objects need in a cluster, and lists its kinds.
func (e *exploration) ready(ctx context.Context, cluster clusters.Cluster) (*growth.Client, fields.Found, error) {
	client, server, err := e.clientsOf(cluster)
	if err != nil {
		return nil, fields.Found{}, err
	}
	found, err := e.customs.define(ctx, client, server)
	if err != nil {
		return nil, found, err
	}
	for _, kind := range found.Kinds {
		if kind.ID() != "Namespace.v1" {
			continue
		}
		for _, name := range growth.Namespaces() {
			answer, err := client.Create(ctx, kind, "", growth.Text(map[string]any{
				"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
			}), false)
			if err != nil {
				return nil, found, fmt.Errorf("create namespace %s: %w", name, err)
			}
			if !answer.Accepted() && answer.Code != http.StatusConflict {
				return nil, found, fmt.Errorf("create namespace %s: rejected: %s", name, answer.Words)
			}
		}
	}
	return client, found, accounts(ctx, cluster)
}

// accounts waits for the ServiceAccounts that Pods need.
func accounts(ctx context.Context, cluster clusters.Cluster) error {
	client, err := dynamic.NewForConfig(writes.Configure(cluster.RESTConfig(), userAgent))
	if err != nil {
		return fmt.Errorf("make a client for cluster %s: %w", cluster.Name(), err)
	}
	for _, namespace := range growth.Namespaces() {
		if !harness.AwaitAccount(ctx, client, namespace) {
			return cmp.Or(context.Cause(ctx), fmt.Errorf("namespace %s has no default ServiceAccount, without which Pods are "+
				"rejected: does kube-controller-manager run?", namespace))
		}
	}
	return nil
}

// known returns, for a kind, the fields that an accepted object of the corpus has at a state.
func (e *exploration) known(state string) func(*fields.Kind) map[string]bool {
	all := map[string]map[string]bool{}
	for _, one := range e.corpus {
		if v := one.verdicts[state]; !v.accepted || v.lost != "" {
			continue
		}
		known := all[one.Kind.ID()]
		if known == nil {
			known = map[string]bool{}
			all[one.Kind.ID()] = known
		}
		for _, place := range growth.Places(one.Object()) {
			for i := range place {
				if f := one.Kind.Root.At(place[:i+1]); f != nil {
					known[f.Path.String()] = true
				}
			}
		}
	}
	return func(kind *fields.Kind) map[string]bool { return all[kind.ID()] }
}

// gather adds the objects that were grown at a state to the corpus. It also adds the first object of each kind that
// made the API server panic, so that other states try it.
func (e *exploration) gather(grown []*growth.Grown, state string) {
	there, id := map[string]bool{}, func(s *growth.Specimen) string { return s.ID() + string(s.Body) }
	for _, one := range e.corpus {
		there[id(one.Specimen)] = true
	}
	accepted := 0
	for _, g := range grown {
		for i, s := range slices.Concat(g.Specimens, g.Rejected, g.Panics[:min(1, len(g.Panics))]) {
			if there[id(s)] {
				continue
			}
			there[id(s)] = true
			opinion := verdict{accepted: i < len(g.Specimens)}
			e.corpus = append(e.corpus, &entry{Specimen: s, verdicts: map[string]verdict{state: opinion}})
		}
		e.count(g)
		for _, words := range g.Unjudged {
			e.report.Unjudged = append(e.report.Unjudged, fmt.Sprintf("%s at %s: %s", g.Name(), state, words))
		}
		for _, s := range g.Panics {
			e.panicked(s, e.stateOf(state))
		}
	}
	for _, one := range e.corpus {
		if one.verdicts[state].accepted {
			accepted++
		}
	}
	for _, s := range e.report.Path {
		if s.Name == state {
			s.Accepted = accepted
		}
	}
}

// count adds the numbers of a kind's fields to the report. The state with the most fields counts.
func (e *exploration) count(g *growth.Grown) {
	name := g.Name()
	k := e.kinds[name]
	if k == nil {
		k = &explorations.Kind{Name: name}
		e.kinds[k.Name] = k
	}
	k.Objects += len(g.Specimens)
	if n := len(g.Covered) + len(g.Rest); n < k.Fields || n == k.Fields && len(g.Covered) <= k.Covered {
		return
	}
	k.Fields, k.Covered, k.Rest = len(g.Covered)+len(g.Rest), len(g.Covered), nil
	k.Dropped = 0
	for _, field := range g.Fields() {
		if g.Dropped[field] {
			k.Dropped++
		}
		k.Rest = append(k.Rest, explorations.Rest{Field: field, Words: g.Rest[field]})
	}
}

// tryAll sends all objects of the corpus whose kinds the state serves.
func (e *exploration) tryAll(ctx context.Context, client *growth.Client, kinds []*fields.Kind, state string) error {
	served := map[string]*fields.Kind{}
	for _, kind := range kinds {
		served[kind.ID()] = kind
	}
	var todo []*entry
	for _, one := range e.corpus {
		if _, known := one.verdicts[state]; served[one.Kind.ID()] != nil && !known && !one.HasState() {
			todo = append(todo, one)
		}
	}
	verdicts, unknown, err := try(ctx, client, todo)
	for i, one := range todo {
		switch {
		case unknown[i] != nil:
			one.unjudged = append(one.unjudged, state)
		case verdicts[i] != nil:
			one.verdicts[state] = *verdicts[i]
			if verdicts[i].panicked {
				e.panicked(one.Specimen, e.stateOf(state))
			}
		}
	}
	e.report.Unjudged = append(e.report.Unjudged, unjudged(todo, unknown, state)...)
	return err
}

// triedAtOnce is the number of objects that wait for a verdict, or for a free worker, at once.
const triedAtOnce = 64

// try gets the verdict on each object by a dry run. If there is none, unknown has the reason. An object that was not
// tried to the end, because the context ended, has neither.
func try(ctx context.Context, client *growth.Client, all []*entry) (verdicts []*verdict, unknown []error, _ error) {
	verdicts, unknown = make([]*verdict, len(all)), make([]error, len(all))
	var working errgroup.Group
	working.SetLimit(triedAtOnce)
	for i, one := range all {
		if ctx.Err() != nil {
			break
		}
		working.Go(func() error {
			answer, err := client.Create(ctx, one.Kind, growth.Namespace(one.Kind), one.Body, true)
			if err == nil {
				verdicts[i], err = verdictOf(one, answer)
			}
			if ctx.Err() == nil {
				unknown[i] = err
			}
			return nil
		})
	}
	_ = working.Wait() // the functions return no errors
	return verdicts, unknown, context.Cause(ctx)
}

// unjudged says which kinds have objects without a verdict, and where. Each kind is there once.
func unjudged(all []*entry, unknown []error, where string) []string {
	var words []string
	first, count := map[string]int{}, map[string]int{}
	for i, one := range all {
		if kind := one.Kind.ID(); unknown[i] != nil {
			if count[kind]++; count[kind] == 1 {
				first[kind] = i
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(first)) {
		one := all[first[kind]]
		name := strings.TrimSpace(fmt.Sprintf("%s %s %s", one.Role, one.Field, one.Value))
		words = append(words, fmt.Sprintf("%s at %s: no verdict on %d of its objects, such as %.80s: %s", kind, where,
			count[kind], name, writes.Words(unknown[first[kind]])))
	}
	return words
}

// verdictOf is the verdict in an answer. An error means that the answer cannot be read.
func verdictOf(one *entry, answer growth.Answer) (*verdict, error) {
	if !answer.Accepted() {
		return &verdict{panicked: answer.Panicked(), why: reasonOf(answer)}, nil
	}
	made, err := answer.Object()
	if err != nil {
		return nil, err
	}
	return &verdict{accepted: true, lost: lostOf(one.Object(), made)}, nil
}

// reasonOf is equal for rejections of the same fields for the same reasons.
func reasonOf(answer growth.Answer) string {
	if len(answer.Causes) == 0 {
		return classOf(answer.Words)
	}
	var all []string
	for _, cause := range answer.Causes {
		field := item.ReplaceAllString(cause.Field, "[]")
		all = append(all, classOf(fmt.Sprintf("%s %s %s", cause.Type, field, cause.Message)))
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "; ")
}

// item matches the index or key of a list or map item in the name of a field.
var item = regexp.MustCompile(`\[[^\]]*\]`)

// lostOf are the fields of an object that the API server dropped.
func lostOf(object, made map[string]any) string {
	var lost []string
	for _, place := range growth.Places(object) {
		value, _ := fields.Get(object, place)
		if _, there := fields.Get(made, place); !there && !fields.Zero(value) {
			lost = append(lost, place.String())
		}
	}
	return strings.Join(lost, " ")
}

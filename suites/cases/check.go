package cases

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/writes"
)

// check draws n cases of a rule and judges each, until one disagrees; it then reduces that case as far as possible.
func check(ctx context.Context, w World, rule Rule, n int) Result {
	result := Result{Rule: rule, Seed: w.Seed}
	draw, err := rule.Begin(ctx, w)
	if rejected := (*Disagreement)(nil); errors.As(err, &rejected) {
		result.Disagreement = rejected
		return result
	}
	if err != nil {
		result.Err = fmt.Errorf("prepare the cases of %s: %w", rule.Name, err)
		return result
	}
	judged := try(ctx, w, rule, draw, n)
	if errors.Is(judged.Err, errNoDryRuns) {
		w.wet = true
		return try(ctx, w, rule, draw, n)
	}
	return judged
}

// try judges n drawn cases. A smaller case of another requirement does not replace the first disagreement.
func try(ctx context.Context, w World, rule Rule, draw Draw, n int) Result {
	result := Result{Rule: rule, Seed: w.Seed, About: map[string]int{}}
	failure := explore(n, w.Seed, func(t *rapid.T) {
		c := draw(t)
		if result.Err != nil {
			return // no further case can be judged
		}
		got, agrees, err := judge(ctx, w, c)
		if err != nil {
			result.Err = fmt.Errorf("judge %s: %w", c.Input, err)
		}
		switch {
		case result.Disagreement != nil && result.Disagreement.Case.Requirement != c.Requirement:
		case got != "" && !agrees:
			result.Disagreement = &Disagreement{Case: c, Got: got}
			t.FailNow()
		case err == nil && result.Disagreement == nil:
			result.Judged++
			for _, id := range append(c.Shows, c.Requirement) {
				result.About[id]++
			}
		}
	})
	if failure != "" && result.Err == nil && result.Disagreement == nil {
		result.Err = fmt.Errorf("draw cases of %s: %s", rule.Name, failure)
	}
	return result
}

// errNoDryRuns is the error of a case that is accepted, but whose dry run is rejected. So rejected dry runs prove
// nothing, also for the cases before it.
var errNoDryRuns = errors.New("the object is accepted, but not its dry run")

// attempts is how often a case is tried whose verdict is unknown.
const attempts = 3

// judge returns the implementation's verdict on a case, "" if it is unknown, and whether it is the specification's.
// The error is why the verdict is unknown, or why the case influences the next ones.
//
// A verdict is that of a dry run. A specification need not demand dry runs, so if the dry run of an allowed case is
// rejected, the object is created really.
func judge(ctx context.Context, w World, c Case) (got string, agrees bool, err error) {
	got, accepted, err := create(ctx, w, c, !w.wet)
	if got == "" || accepted || !c.Allowed || w.wet {
		return got, accepted == c.Allowed, err
	}
	got, accepted, err = create(ctx, w, c, false)
	if accepted {
		return "", false, errors.Join(errNoDryRuns, err)
	}
	return got, false, err
}

// create creates the object of a case, if dry only in a dry run. got says what happened, and is "" if that is unknown.
// If an answer was lost, the object may exist: it was accepted then.
func create(ctx context.Context, w World, c Case, dry bool) (got string, accepted bool, err error) {
	options := metav1.CreateOptions{}
	if dry {
		options.DryRun = []string{metav1.DryRunAll}
	}
	lost := false
	for range attempts {
		object := &unstructured.Unstructured{Object: c.Object}
		var created *unstructured.Unstructured
		api := w.Client.Resource(c.Resource).Namespace(w.Namespace)
		created, err = api.Create(ctx, object.DeepCopy(), options)
		if lost && apierrors.IsAlreadyExists(err) {
			created, err = api.Get(ctx, object.GetName(), metav1.GetOptions{})
			if err != nil {
				return "", false, fmt.Errorf("check whether %s was accepted: %w", object.GetName(), err)
			}
		}
		switch writes.Judge(err, 0) {
		case writes.Accepted:
			return "accepted", true, forget(ctx, w, c, created)
		case writes.Rejected:
			return Rejection(err), false, nil
		case writes.Unknown:
			lost = true
		}
	}
	return "", false, err
}

// Rejection describes a rejection as a Disagreement does.
func Rejection(err error) string {
	status, _ := writes.StatusOf(err)
	return fmt.Sprintf("rejected: %d %s: %s", status.Code, status.Reason, status.Message)
}

// forget deletes an object that an implementation has stored, maybe despite the dry run. Otherwise it would influence
// the next case.
func forget(ctx context.Context, w World, c Case, created *unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(ctx, removeTimeout)
	defer cancel()
	return writes.Remover{Client: w.Client}.Remove(ctx, writes.Made{
		Resource: c.Resource, Kind: created.GetKind(), Namespaced: true, Namespace: w.Namespace, Name: created.GetName(),
		UID: string(created.GetUID()),
	}, nil)
}

// library guards the flags of the property-testing library, which exist once per process.
var library sync.Mutex

// explore runs a property with n inputs. If it fails, explore tries smaller and smaller inputs, and the smallest that
// fails last. It returns the library's message about the failure, "" if there was none.
func explore(n int, seed uint64, property func(*rapid.T)) string {
	library.Lock()
	defer library.Unlock()
	testing.Init() // the library calls testing.Short
	if !flag.Parsed() {
		_ = flag.CommandLine.Parse(nil) // cannot fail without arguments
	}
	defer setFlags(map[string]string{
		"rapid.checks": strconv.Itoa(n), "rapid.seed": strconv.FormatUint(seed, 10), "rapid.nofailfile": "true",
		"test.short":       "false",
		"rapid.shrinktime": "2m", // a busy machine also reaches the smallest case
	})()
	t := &probe{}
	done := make(chan struct{})
	go func() { // the library ends the goroutine of a failed test
		defer close(done)
		rapid.Check(t, property)
	}()
	<-done
	return t.failure
}

// setFlags sets flags, and returns a function that restores them.
func setFlags(values map[string]string) (restore func()) {
	before := map[string]string{}
	for name, value := range values {
		before[name] = flag.Lookup(name).Value.String()
		_ = flag.Set(name, value) // these values are valid
	}
	return func() {
		for name, value := range before {
			_ = flag.Set(name, value)
		}
	}
}

// probe is a test that keeps the first message about its failure.
type probe struct{ failure string }

func (p *probe) fail(text string) {
	if p.failure == "" {
		p.failure = text
	}
}

// end ends the goroutine, as a test's does.
func (p *probe) end(text string) {
	p.fail(text)
	runtime.Goexit()
}

func (*probe) Helper()                             {}
func (*probe) Name() string                        { return "cases" }
func (*probe) Logf(string, ...any)                 {}
func (*probe) Log(...any)                          {}
func (p *probe) Skipf(format string, args ...any)  { p.end(fmt.Sprintf(format, args...)) }
func (p *probe) Skip(args ...any)                  { p.end(fmt.Sprint(args...)) }
func (p *probe) SkipNow()                          { p.end("it was skipped") }
func (p *probe) Errorf(format string, args ...any) { p.fail(fmt.Sprintf(format, args...)) }
func (p *probe) Error(args ...any)                 { p.fail(fmt.Sprint(args...)) }
func (p *probe) Fatalf(format string, args ...any) { p.end(fmt.Sprintf(format, args...)) }
func (p *probe) Fatal(args ...any)                 { p.end(fmt.Sprint(args...)) }
func (p *probe) FailNow()                          { p.end("it failed") }
func (p *probe) Fail()                             { p.fail("it failed") }
func (p *probe) Failed() bool                      { return p.failure != "" }

package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/harness/artifacts"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// evidence is what a scenario leaves in the report folder.
type evidence struct {
	run *scenarioRun
	// touched are the kinds that the steps use.
	touched []schema.GroupVersionKind
	// logs are the sizes of the components' log files when the scenario began.
	logs map[string]int64
}

var events = schema.GroupVersionKind{Version: "v1", Kind: "Event"}

// touch notes the kinds that a step uses. If every history is kept, it also starts to watch them.
func (e *evidence) touch(ctx context.Context, step scenarios.Step) {
	for _, gvk := range touchedBy(step) {
		if slices.Contains(e.touched, gvk) {
			continue
		}
		e.touched = append(e.touched, gvk)
		if !e.run.shared.KeepHistory {
			continue
		}
		if kind, err := e.run.shared.kinds.Find(ctx, gvk); err == nil {
			e.run.shared.history.Stream(kind.Resource)
		}
	}
}

func touchedBy(step scenarios.Step) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, ref := range step.About() {
		gv, err := schema.ParseGroupVersion(ref.APIVersion)
		if err == nil && ref.Kind != "" {
			kinds = append(kinds, gv.WithKind(ref.Kind))
		}
	}
	return kinds
}

// diagnose writes to the report folder what a person needs to find the cause: the objects of the kinds that the
// scenario used, the events of its namespace, and what the components logged since it began.
func (e *evidence) diagnose(ctx context.Context) artifacts.Left {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), diagnosticsTimeout)
	defer cancel()
	return e.leave(func(dir string, keep func(string, error)) {
		keep("objects.yaml", e.dump(ctx, filepath.Join(dir, "objects.yaml"), e.touched))
		keep("events.yaml", e.dump(ctx, filepath.Join(dir, "events.yaml"), []schema.GroupVersionKind{events}))
		if own := e.history(); len(own.Parts) > 0 {
			managers := own.Managers(ctx, e.run.client, e.run.namespace)
			keep(reports.HistoryFile, own.Write(filepath.Join(dir, reports.HistoryFile), managers))
		}
		for _, part := range artifacts.Logs(e.run.shared.logFiles()).Since(e.logs) {
			if err := part.CopyTo(filepath.Join(dir, part.Name)); !errors.Is(err, artifacts.ErrNothingLogged) {
				keep(part.Name, err)
			}
		}
	})
}

// keepHistory writes only the scenario's history to its folder in the report folder.
func (e *evidence) keepHistory() artifacts.Left {
	return e.leave(func(dir string, keep func(string, error)) {
		if own := e.history(); len(own.Parts) > 0 {
			keep(reports.HistoryFile, own.Write(filepath.Join(dir, reports.HistoryFile), artifacts.Managers{}))
		}
	})
}

// leave writes files into the scenario's folder in the report folder, if there is one.
func (e *evidence) leave(write func(dir string, keep func(name string, err error))) artifacts.Left {
	return artifacts.Folder{
		ReportDir: e.run.shared.ReportDir, ID: e.run.scenario.ID(), Progress: e.run.shared.Progress,
	}.Leave(write)
}

// history returns the scenario's own history: its namespace in everything that is watched on the track, and what it
// looked at elsewhere.
func (e *evidence) history() artifacts.History {
	timeline := e.run.timeline
	h := artifacts.History{From: timeline.from, To: e.run.shared.history.Seq(), Beginning: timeline.beginning}
	for i, began := range timeline.begun {
		step := e.run.entry.Steps[i]
		h.Steps = append(h.Steps, artifacts.Step{
			Title: began.Title, Verb: step.Verb, State: step.State, Seq: began.Seq, At: timeline.begunAt[i],
		})
	}
	for _, stream := range e.run.shared.history.Streams() {
		h.Parts = append(h.Parts, history.Part{Stream: stream, Scope: history.Scope{Namespace: e.run.namespace}})
	}
	for _, part := range timeline.looked {
		if part.Scope.Namespace != e.run.namespace {
			h.Parts = append(h.Parts, part)
		}
	}
	// Streams have no order, but the files must be the same every time.
	slices.SortStableFunc(h.Parts, func(a, b history.Part) int {
		return cmp.Compare(a.Stream.Resource().String(), b.Stream.Resource().String())
	})
	return h
}

// dump writes all objects of the kinds; for namespaced kinds, those in the scenario's namespace. A comment names each
// kind that could not be read.
func (e *evidence) dump(ctx context.Context, path string, kinds []schema.GroupVersionKind) error {
	var b strings.Builder
	for _, gvk := range kinds {
		text, err := e.list(ctx, gvk)
		if err != nil {
			text = fmt.Sprintf("# %s of %s could not be read: %s\n", gvk.Kind, gvk.GroupVersion(),
				strings.ReplaceAll(err.Error(), "\n", " "))
		}
		b.WriteString(text)
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}

// writtenBy returns the objects that a field manager with this prefix has written. A report does not contain the other
// cluster-scoped objects of a borrowed cluster, which belong to its user.
func writtenBy(items []unstructured.Unstructured, managers string) []unstructured.Unstructured {
	return slices.DeleteFunc(items, func(o unstructured.Unstructured) bool {
		return !slices.ContainsFunc(o.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
			return strings.HasPrefix(entry.Manager, managers)
		})
	})
}

func (e *evidence) list(ctx context.Context, gvk schema.GroupVersionKind) (string, error) {
	kind, err := e.run.shared.kinds.Find(ctx, gvk)
	if err != nil {
		return "", err
	}
	namespace := ""
	if kind.Namespaced {
		namespace = e.run.namespace
	}
	list, err := e.run.client.Resource(kind.Resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	items := list.Items
	if _, borrowed := planning.BorrowedFrom(e.run.shared.provider); borrowed && !kind.Namespaced {
		items = writtenBy(items, managersOf(e.run.shared.id))
	}
	var b strings.Builder
	for _, item := range items {
		item.SetManagedFields(nil)
		text, err := yaml.Marshal(item.Object)
		if err != nil {
			return "", fmt.Errorf("write %s %s as YAML: %w", gvk.Kind, item.GetName(), err)
		}
		b.WriteString("---\n" + string(text))
	}
	return b.String(), nil
}

package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// evidence is what a scenario leaves in the report folder.
type evidence struct {
	run *scenarioRun
	// touched are the kinds that the steps were about.
	touched []schema.GroupVersionKind
	// logs are the sizes of the components' log files when the scenario began.
	logs map[string]int64
}

// maxLog is how much of a log is copied: its end.
const maxLog = 8 << 20

var events = schema.GroupVersionKind{Version: "v1", Kind: "Event"}

// touch notes the kinds that a step is about. Where every history is kept they are watched from now on.
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

// diagnose leaves in the report folder what a person needs to find out why: the objects of the kinds that the scenario
// was about, the events of its namespace, and what the components logged since it began.
func (e *evidence) diagnose(ctx context.Context) artifacts {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), diagnosticsTimeout)
	defer cancel()
	return e.leave(func(dir string, keep func(string, error)) {
		keep("objects.yaml", e.dump(ctx, filepath.Join(dir, "objects.yaml"), e.touched))
		keep("events.yaml", e.dump(ctx, filepath.Join(dir, "events.yaml"), []schema.GroupVersionKind{events}))
		e.leaveHistory(ctx, dir, keep)
		for _, l := range e.logParts() {
			if err := l.copyTo(filepath.Join(dir, l.name)); !errors.Is(err, errNothingLogged) {
				keep(l.name, err)
			}
		}
	})
}

// artifacts are files that a scenario leaves in the report folder.
type artifacts struct {
	// files are relative to the report folder.
	files []string
	// folder has the files. It is relative to the working directory where it is below it.
	folder string
}

// leave writes files into the scenario's folder in the report folder, if there is one. Each file is to be kept, or why
// it was not written is said.
func (e *evidence) leave(write func(dir string, keep func(name string, err error))) artifacts {
	if e.run.shared.ReportDir == "" {
		return artifacts{}
	}
	left := artifacts{folder: fromHere(filepath.Join(e.run.shared.ReportDir, e.run.scenario.ID()))}
	keep := func(name string, err error) {
		if err != nil {
			e.run.shared.Progress("no %s of %s: %v", name, e.run.scenario.Title(), err)
			return
		}
		left.files = append(left.files, filepath.ToSlash(filepath.Join(e.run.scenario.ID(), name)))
	}
	err := reports.WriteArtifacts(filepath.Join(e.run.shared.ReportDir, e.run.scenario.ID()), func(dir string) error {
		write(dir, keep)
		return nil
	})
	if err != nil {
		e.run.shared.Progress("no artifacts of %s: %v", e.run.scenario.Title(), err)
	}
	if len(left.files) == 0 {
		return artifacts{}
	}
	return left
}

// fromHere is a path relative to the working directory where it is below it.
func fromHere(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if relative, err := filepath.Rel(here, absolute); err == nil && filepath.IsLocal(relative) {
		return relative
	}
	return path
}

// dump writes all objects of the kinds, those that are namespaced from the scenario's namespace. What could not be read
// is said in a comment.
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
	var b strings.Builder
	for _, item := range list.Items {
		item.SetManagedFields(nil)
		text, err := yaml.Marshal(item.Object)
		if err != nil {
			return "", fmt.Errorf("write %s %s as YAML: %w", gvk.Kind, item.GetName(), err)
		}
		b.WriteString("---\n" + string(text))
	}
	return b.String(), nil
}

// logSizes are how much the components have logged so far, by file.
func (e *evidence) logSizes() map[string]int64 {
	sizes := map[string]int64{}
	for _, files := range e.run.shared.logFiles() {
		for _, file := range files {
			if info, err := os.Stat(file); err == nil {
				sizes[file] = info.Size()
			}
		}
	}
	return sizes
}

// logPart is what was written into a log since a moment.
type logPart struct {
	name, file string
	from       int64
}

// errNothingLogged says that a log has nothing new.
var errNothingLogged = errors.New("nothing was logged")

func (e *evidence) logParts() []logPart {
	var parts []logPart
	all := e.run.shared.logFiles()
	for _, component := range clusters.SortedKeys(all) {
		for i, file := range all[component] {
			parts = append(parts, logPart{
				fmt.Sprintf("%s-%d.log", clusters.Component(component).FileName(), i+1), file,
				e.logs[file],
			})
		}
	}
	return parts
}

func (l logPart) copyTo(path string) (err error) {
	from, err := os.Open(l.file)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if info.Size() <= l.from {
		return errNothingLogged
	}
	if _, err := from.Seek(max(l.from, info.Size()-maxLog), io.SeekStart); err != nil {
		return err
	}
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(to, from, min(maxLog, info.Size()-l.from))
	return errors.Join(err, to.Close())
}

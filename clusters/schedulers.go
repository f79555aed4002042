package clusters

import (
	"fmt"
	"slices"
	"strings"
)

// DefaultSchedulerName is the default schedulerName of pods, and of a kube-scheduler without profiles.
const DefaultSchedulerName = "default-scheduler"

// NamedScheduler is an additional kube-scheduler in a separate process. Components, restart, kill and metric refer to
// it as kube-scheduler/NAME.
type NamedScheduler struct {
	// Name of the scheduler, unique in the cluster: batch.
	Name string `json:"name"`
	// Profiles of its KubeSchedulerConfiguration, verbatim. Default: one profile, with the scheduler's name as
	// schedulerName.
	Profiles []map[string]any `json:"profiles,omitempty"`
}

// NamedSchedulerChange is the change of one additional kube-scheduler, identified by its name; a new one is started.
type NamedSchedulerChange struct {
	NamedScheduler `json:",inline"`
	// Remove the scheduler and its settings in components.
	Remove bool `json:"remove,omitempty"`
}

// NamedComponent returns the component name of an additional kube-scheduler.
func NamedComponent(scheduler string) Component { return Scheduler + "/" + Component(scheduler) }

// Component returns the component name of the scheduler: kube-scheduler/batch.
func (s NamedScheduler) Component() Component { return NamedComponent(s.Name) }

// Binary returns the name of the component's program: kube-scheduler for kube-scheduler/batch and kube-scheduler@1.
func (c Component) Binary() Component {
	binary, _ := c.Plane()
	name, _, _ := strings.Cut(string(binary), "/")
	return Component(name)
}

// FileName returns the component's name as part of a file name.
func (c Component) FileName() string { return strings.ReplaceAll(string(c), "/", "-") }

// AllProfiles returns the scheduler's profiles, or the default one if it has none.
func (s NamedScheduler) AllProfiles() []map[string]any {
	if len(s.Profiles) > 0 {
		return s.Profiles
	}
	return []map[string]any{{"schedulerName": s.Name}}
}

// ControlPlane lists the components of the state's control plane in the order in which an upgrade starts them:
// additional kube-schedulers come last.
func (s State) ControlPlane() []Component {
	all := ControlPlane()
	for _, scheduler := range s.Schedulers {
		all = append(all, scheduler.Component())
	}
	return all
}

// CheckSchedulers returns the errors of the state's kube-schedulers that do not depend on their version: a
// schedulerName that two of them serve, or settings for one that does not exist.
func (s State) CheckSchedulers() []error {
	var problems []error
	answers := map[string]Component{}
	for _, name := range schedulerNames(s.SchedulerProfiles) {
		answers[name] = Scheduler
	}
	for i, scheduler := range s.Schedulers {
		for _, name := range schedulerNames(scheduler.AllProfiles()) {
			if other, taken := answers[name]; taken && other != scheduler.Component() {
				problems = append(problems,
					fmt.Errorf("schedulers[%d]: both %s and %s answer for schedulerName %q, and each pod of it would be placed by "+
						"both; give one of them another",
						i, other, scheduler.Component(), name))
				continue
			}
			answers[name] = scheduler.Component()
		}
	}
	there := s.ControlPlane()
	for _, name := range SortedKeys(s.Components) {
		if name.Binary() == Scheduler && !slices.Contains(there, name) {
			problems = append(problems,
				fmt.Errorf("component %s: no such scheduler is among schedulers; there are %s", name, joined(there)))
		}
	}
	return problems
}

// schedulerNames returns the names that a kube-scheduler with these profiles serves.
func schedulerNames(profiles []map[string]any) []string {
	if len(profiles) == 0 {
		return []string{DefaultSchedulerName}
	}
	var names []string
	for _, profile := range profiles {
		name, told := profile["schedulerName"].(string)
		if !told && len(profiles) == 1 {
			name = DefaultSchedulerName // kube-scheduler's own default
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

func joined(components []Component) string {
	var words []string
	for _, c := range components {
		words = append(words, string(c))
	}
	return strings.Join(words, ", ")
}

// withSchedulers returns the additional kube-schedulers after changes: in the previous order, followed by the new
// ones.
func withSchedulers(before []NamedScheduler, changes []NamedSchedulerChange) []NamedScheduler {
	after := slices.Clone(before)
	for _, c := range changes {
		i := slices.IndexFunc(after, func(known NamedScheduler) bool { return known.Name == c.Name })
		switch {
		case c.Remove && i >= 0:
			after = slices.Delete(after, i, i+1)
		case c.Remove:
		case i < 0:
			after = append(after, c.NamedScheduler)
		case c.Profiles != nil:
			after[i].Profiles = c.Profiles
		}
	}
	if len(after) == 0 {
		return nil // equal to a state that never had any
	}
	return after
}

// String is the scheduler in a few words: "scheduler/batch" or "scheduler/batch(profiles=2)".
func (s NamedScheduler) String() string {
	text := "scheduler/" + s.Name
	if n := len(s.Profiles); n > 0 {
		text += fmt.Sprintf("(profiles=%d)", n)
	}
	return text
}

package scenarios

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// The table has an entry for each verb of Step, in the same order. Each entry has what every verb must have.
func TestVerbsAreInTheTable(t *testing.T) {
	var fields, table []string
	for _, f := range verbFields() {
		fields = append(fields, f.Name)
	}
	for _, v := range verbs() {
		table = append(table, v.name)
		if v.about == nil || v.check == nil {
			t.Errorf("%s: what a step is about, and its check, must be said of every verb", v.name)
		}
		if v.write && v.target == nil {
			t.Errorf("%s: a write without a target", v.name)
		}
		if v.throughout != nil && v.watches == nil {
			t.Errorf("%s: a time to look back on, and nothing that is watched", v.name)
		}
	}
	if !slices.Equal(fields, table) {
		t.Errorf("the verbs of Step:\n%v\nthe table:\n%v", fields, table)
	}
}

// Every verb says whether it writes. A load writes, too, if it does not read.
func TestWrites(t *testing.T) {
	load := func(r Requests) []Requests { return []Requests{r} }
	writes := map[string]bool{
		"create": true, "apply": true, "update": true, "patch": true, "delete": true, "evict": true, "scale": true,
		"write": true, "parallel": true, "restart": true, "kill": true, "restore": true, "command": true, "exec": true,
		"window": true, "transition": false, "snapshot": false, "eventually": false, "rolledOut": false, "always": false,
		"never": false, "sequence": false, "unchanged": false, "survives": false, "resolve": false, "metric": false,
	}
	for _, verb := range verbs() {
		name := verb.name
		want, known := writes[name]
		var step Step
		withVerb(&step, name)
		if !known || step.Writes() != want {
			t.Errorf("%s: %t; listed here: %t", name, step.Writes(), known)
		}
		if step.During = load(Requests{Read: &Selection{}}); step.Writes() != want {
			t.Errorf("%s with a load that reads: %t", name, step.Writes())
		}
		if step.During = load(Requests{Create: Object{}}); !step.Writes() {
			t.Errorf("%s with a load that creates does not write", name)
		}
	}
	if step := (Step{Window: &Window{Except: []string{"writes"}}}); step.Writes() {
		t.Error("a window without its check writes writes")
	}
}

// A step without a verb has no target, watches nothing and changes nothing.
func TestNoVerb(t *testing.T) {
	step := Step{Name: "nothing"}
	if step.Verb() != "" || step.Title() != "nothing" || step.ChangesCluster() || step.Makes() != nil ||
		step.Watches() != nil || step.Target() != (ObjectReference{}) {
		t.Errorf("%s is taken for a verb", step.Title())
	}
}

// Hurried limits the time of every step, except a step that changes the cluster or whose demand must hold for a time.
func TestHurried(t *testing.T) {
	for _, verb := range verbs() {
		step := Step{Timeout: Duration(time.Hour)}
		withVerb(&step, verb.name)
		if verb.within != nil {
			*verb.within(&step) = Duration(time.Hour)
		}
		want := time.Second
		if verb.changesCluster || verb.lasts {
			want = time.Hour
		}
		hurried := step.Hurried(time.Second, time.Minute)
		if time.Duration(hurried.Timeout) != want {
			t.Errorf("%s: the timeout is %v", verb.name, hurried.Timeout)
		}
		if verb.within == nil {
			continue
		}
		if got := time.Duration(*verb.within(&hurried)); got != want {
			t.Errorf("%s: within is %v", verb.name, got)
		}
		if got := time.Duration(*verb.within(&step)); got != time.Hour {
			t.Errorf("%s: within of the step itself became %v", verb.name, got)
		}
	}
}

// withVerb sets the field of a verb to an empty value.
func withVerb(step *Step, name string) {
	for _, f := range verbFields() {
		if f.Name != name {
			continue
		}
		value := reflect.ValueOf(step).Elem().FieldByIndex(f.Index)
		if f.Type.Kind() == reflect.Map {
			value.Set(reflect.MakeMap(f.Type))
		} else {
			value.Set(reflect.New(f.Type.Elem()))
		}
	}
}

package clusters

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestExpandSystem(t *testing.T) {
	values := map[string]string{"PORT": "8443", "EMPTY": ""}
	for text, want := range map[string]string{
		"": "", "plain": "plain", "--port=$(PORT)": "--port=8443", "$(PORT)$(PORT)": "84438443", "a$(EMPTY)b": "ab",
		"$$(PORT)": "$(PORT)", "$$(date) $(PORT)": "$(date) 8443", "$": "$", "$5": "$5", "${x}": "${x}",
		"$(NOTHING)": "error", "$(PORT": "error", "$()": "error",
	} {
		got, err := ExpandSystem(text, func(name string) (string, bool) { value, ok := values[name]; return value, ok })
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q became %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestSystemChanges(t *testing.T) {
	before := State{Version: "1.36.3", Systems: []System{
		{Name: "lws", Simulated: &Simulated{Simulator: "leaderworkerset", Faults: []string{"a"}, Variant: "label"}},
		{
			Name: "real", Version: "1",
			Process: &SystemProcess{Command: []string{"m"}, CRDs: []string{"c"}, Env: map[string]string{"A": "1"}},
		},
	}}
	text := before.String()
	for _, c := range []struct {
		change SystemChange
		want   string
	}{
		{
			SystemChange{System: System{Name: "lws", Simulated: &Simulated{}}},
			"lws(simulated, as leaderworkerset) real(process, 1)",
		},
		{
			SystemChange{System: System{Name: "lws", Simulated: &Simulated{Faults: []string{"b", "c"}}}},
			"lws(simulated, as leaderworkerset, faults b c) real(process, 1)",
		},
		{
			SystemChange{System: System{Name: "lws", Simulated: &Simulated{Simulator: "x", Variant: "v"}}},
			"lws(simulated, as x, variant v) real(process, 1)",
		},
		{SystemChange{System: System{Name: "lws"}, Remove: true}, "real(process, 1)"},
		{
			SystemChange{System: System{Name: "lws", Simulated: &Simulated{Config: map[string]any{"a": "b"}}}},
			`lws(simulated, as leaderworkerset, config {"a":"b"}) real(process, 1)`,
		},
		{
			SystemChange{System: System{Name: "real", Version: "2"}},
			"lws(simulated, as leaderworkerset, variant label, faults a) real(process, 2)",
		},
		{
			SystemChange{System: System{Name: "real", Manifests: []string{"x"}}},
			"lws(simulated, as leaderworkerset, variant label, faults a) real(manifests)",
		},
		{
			SystemChange{System: System{Name: "new", Simulated: &Simulated{}}},
			"lws(simulated, as leaderworkerset, variant label, faults a) real(process, 1) new(simulated)",
		},
		{
			SystemChange{System: System{Name: "none"}, Remove: true},
			"lws(simulated, as leaderworkerset, variant label, faults a) real(process, 1)",
		},
	} {
		after := before.With(Change{Systems: []SystemChange{c.change}})
		if got := strings.TrimPrefix(after.String(), "1.36.3 "); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.change, got, c.want)
		}
		if before.String() != text {
			t.Fatalf("the state before was changed: %s", before)
		}
	}
}

func TestProcessChange(t *testing.T) {
	p := SystemProcess{
		Command: []string{"m"}, CRDs: []string{"c"}, Webhooks: []string{"w"},
		Env: map[string]string{"A": "1"}, Files: map[string]string{"f": "x"},
	}
	for _, c := range []struct{ change, want SystemProcess }{
		{SystemProcess{}, p},
		{
			SystemProcess{Command: []string{"n"}},
			SystemProcess{Command: []string{"n"}, CRDs: p.CRDs, Webhooks: p.Webhooks, Env: p.Env, Files: p.Files},
		},
		{
			SystemProcess{
				CRDs: []string{}, Webhooks: []string{}, Env: map[string]string{}, Files: map[string]string{},
				Ready: &SystemReadiness{TCP: "t"},
			},
			SystemProcess{
				Command: p.Command, CRDs: []string{}, Webhooks: []string{}, Env: map[string]string{},
				Files: map[string]string{}, Ready: &SystemReadiness{TCP: "t"},
			},
		},
		{
			SystemProcess{CertDir: "d", WebhookPort: 9443},
			SystemProcess{
				Command: p.Command, CRDs: p.CRDs, Webhooks: p.Webhooks, Env: p.Env, Files: p.Files, CertDir: "d", WebhookPort: 9443,
			},
		},
	} {
		if got := p.with(c.change); !reflect.DeepEqual(got, c.want) {
			t.Errorf("got %+v, want %+v", got, c.want)
		}
	}
}

func TestBeside(t *testing.T) {
	here, err := os.Getwd()
	golden.Must(t, err)
	got := System{
		Manifests: []string{"a.yaml", "https://x/b.yaml", "/c.yaml", "$(SCENARIO_DIR)/d.yaml"},
		Process: &SystemProcess{
			Command: []string{
				"./manager", "./arg", "--config=$(SCENARIO_DIR)/c",
				"$$(SCENARIO_DIR)",
			}, CRDs: []string{"crd.yaml"}, Webhooks: []string{"$(DIR)/w.yaml", "../w.yaml"},
			Env: map[string]string{"AT": "$(SCENARIO_DIR):$(DIR)"},
		},
	}.Beside("some/where")
	if want := []string{
		"some/where/a.yaml", "https://x/b.yaml", "/c.yaml",
		here + "/some/where/d.yaml",
	}; !reflect.DeepEqual(got.Manifests, want) {
		t.Errorf("manifests %v, want %v", got.Manifests, want)
	}
	want := SystemProcess{
		Command: []string{here + "/some/where/manager", "./arg", "--config=" + here + "/some/where/c", "$$(SCENARIO_DIR)"},
		CRDs:    []string{"some/where/crd.yaml"}, Webhooks: []string{"$(DIR)/w.yaml", "some/w.yaml"},
		Env: map[string]string{"AT": here + "/some/where:$(DIR)"},
	}
	if !reflect.DeepEqual(*got.Process, want) {
		t.Errorf("process %+v, want %+v", *got.Process, want)
	}
}

// ./program is beside its file. A file that is named without a folder is in the current one.
func TestProgramBeside(t *testing.T) {
	here, err := os.Getwd()
	golden.Must(t, err)
	for _, c := range []struct{ dir, program, want string }{
		{".", "./manager", here + "/manager"},
		{"", "bin/manager-$(VERSION)", here + "/bin/manager-$(VERSION)"},
		{"/there", "./manager", "/there/manager"},
		{"there", "../manager", here + "/manager"},
		{"there", "manager", "manager"},
		{"there", "/bin/manager", "/bin/manager"},
		{"there", "$(DIR)/manager", "$(DIR)/manager"},
	} {
		if got := ProgramBeside(c.dir, c.program); got != c.want {
			t.Errorf("%s in %q: got %s, want %s", c.program, c.dir, got, c.want)
		}
	}
}

package systems

import (
	"crypto/sha256"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestCheck(t *testing.T) {
	crd, webhook := write(t, widgetCRD), write(t, widgetWebhook)
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(widgetCRD)))
	simulated := func(s clusters.Simulated) clusters.System { return clusters.System{Name: "lws", Simulated: &s} }
	process := func(p clusters.SystemProcess) clusters.System {
		return clusters.System{Name: "lws", Version: "7", Process: &p}
	}
	manifests := func(names ...string) clusters.System { return clusters.System{Name: "lws", Manifests: names} }
	simulators := Simulators{
		"lws":   {Faults: []string{"a", "b"}, ClusterWide: []string{"b"}, Variants: []string{"v"}},
		"grove": {Configurable: true},
	}
	config := map[string]any{"a": "b"}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	golden.Must(t, err)
	defer listener.Close()
	taken := listener.Addr().(*net.TCPAddr).Port
	for i, c := range []struct {
		system clusters.System
		want   string
	}{
		{simulated(clusters.Simulated{Faults: []string{"b"}, Variant: "v"}), ""},
		{simulated(clusters.Simulated{Faults: []string{"a@team-*"}}), ""},
		{simulated(clusters.Simulated{Faults: []string{"c@team-*"}}), `has no fault "c"; it has: a, b`},
		{
			simulated(clusters.Simulated{Faults: []string{"a@["}}),
			`cannot limit fault a to namespaces "[": invalid pattern`,
		},
		{simulated(clusters.Simulated{Faults: []string{"a@"}}), `cannot limit fault a to namespaces "": invalid pattern`},
		{
			simulated(clusters.Simulated{Faults: []string{"b@team-*"}}),
			"cannot limit fault b to namespaces team-*: it affects the whole cluster",
		},
		{simulated(clusters.Simulated{Faults: []string{"a", "c"}}), `has no fault "c"; it has: a, b`},
		{simulated(clusters.Simulated{Variant: "w"}), `has no variant "w"; it has: v`},
		{simulated(clusters.Simulated{Config: config}), "does not support a configuration"},
		{simulated(clusters.Simulated{Simulator: "grove", Config: config}), ""},
		{simulated(clusters.Simulated{Simulator: "swl"}), `unknown simulator "swl"; known: grove, lws`},
		{process(clusters.SystemProcess{Command: []string{"sh"}, CRDs: []string{crd}, Webhooks: []string{webhook}}), ""},
		{process(clusters.SystemProcess{Command: []string{"$(DIR)/made-by-nobody"}}), ""},
		{process(clusters.SystemProcess{Command: []string{"/no/such/manager-$(VERSION)"}}), "/no/such/manager-7"},
		{
			process(clusters.SystemProcess{Command: []string{"sh"}, CRDs: []string{webhook}}),
			"contains no object of the expected kinds",
		},
		{process(clusters.SystemProcess{Command: []string{"sh"}, Webhooks: []string{"/no/such/file"}}), "/no/such/file"},
		{process(clusters.SystemProcess{}), "no command"},
		{process(clusters.SystemProcess{Command: []string{"sh"}, WebhookPort: taken}), ""},
		{manifests(crd, crd+"#sha256="+sum, "https://example.org/never-asked.yaml"), ""},
		{manifests(crd + "#sha256=" + strings.Repeat("0", 64)), "has the SHA-256 " + sum},
		{manifests(crd + "#md5=1"), "64 hexadecimal digits"},
		{manifests("x-$(VERSION).yaml"), "only if the system has a version"},
		{manifests(write(t, "a: b\n")), "is not an object"},
		{clusters.System{Name: "lws"}, "neither simulated nor a process nor a module nor manifests"},
	} {
		err := Check(t.Context(), []clusters.System{c.system}, simulators, nil)
		if (err == nil) != (c.want == "") || err != nil &&
			(!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "system lws: ")) {
			t.Errorf("%d: got %v, want %q", i, err, c.want)
		}
	}
}

func TestCheckPorts(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	golden.Must(t, err)
	defer listener.Close()
	taken := listener.Addr().(*net.TCPAddr).Port
	system := clusters.System{Name: "lws", Process: &clusters.SystemProcess{WebhookPort: taken}}
	golden.Error(t, CheckPorts([]clusters.System{{Name: "simulated", Simulated: &clusters.Simulated{}}, system}),
		fmt.Sprintf("system lws: port %d, on which its program listens (webhookPort), is in use on 127.0.0.1: stop", taken))
	listener.Close()
	if err := CheckPorts([]clusters.System{system}); err != nil {
		t.Errorf("a free port: %v", err)
	}
}

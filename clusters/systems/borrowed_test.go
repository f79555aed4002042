package systems

import (
	"fmt"
	"net"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A simulator does not replace the definitions of another installation in a borrowed cluster, and removes only what it
// has created.
func TestSimulatorInABorrowedCluster(t *testing.T) {
	by := func(managers ...string) map[string]any {
		var fields []any
		for _, name := range managers {
			fields = append(fields, map[string]any{"manager": name})
		}
		return map[string]any{"managedFields": fields}
	}
	for name, test := range map[string]struct {
		there map[string]any
		want  string
	}{
		"another installation":          {by("helm"), "the cluster has a CustomResourceDefinition widgets.test.rehearse.dev already"},
		"left by a killed run":          {by("x-simulator", "kube-apiserver"), "exit"},
		"changed by somebody since":     {by("x-simulator", "kubectl-edit"), "exit"},
		"of another of our simulators":  {by("y-simulator"), "exit"},
		"of a group that is not theirs": {nil, "exit"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newFakeCluster(t)
			group := "test.rehearse.dev"
			if test.there == nil {
				test.there, group = by("helm"), "elsewhere.example.com"
			}
			c.putCRD(test.there)
			s := newSet(t, c, Options{Borrowed: true, Simulators: Simulators{
				"x": {Command: []string{"false"}, Groups: []string{group}}, "y": {},
			}})
			err := s.Converge(t.Context(), []clusters.System{{Name: "x", Simulated: &clusters.Simulated{}}})
			golden.Error(t, err, test.want)
			converge(t, s)
			if len(c.deleted) > 0 {
				t.Errorf("deleted %v", c.deleted)
			}
		})
	}
}

// A webhook of the user that is called where the system would run is neither called nor deleted.
func TestWebhookAtTheSameAddress(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	golden.Must(t, err)
	port := free.Addr().(*net.TCPAddr).Port
	golden.Must(t, free.Close())
	c := newFakeCluster(t)
	c.Put("validatingwebhookconfigurations", map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
		"metadata": map[string]any{"name": "mine"}, "webhooks": []any{map[string]any{
			"name": "a.example.com", "clientConfig": map[string]any{"url": fmt.Sprintf("https://127.0.0.1:%d/a", port)},
		}},
	})
	system := installed(t)
	system.Process.WebhookPort = port
	s := newSet(t, c, Options{Borrowed: true})
	golden.Error(t, s.Converge(t.Context(), []clusters.System{system}), "webhook a.example.com", "another port")
	converge(t, s)
	if len(c.deleted) > 0 {
		t.Errorf("deleted %v", c.deleted)
	}
}

package systems

import (
	"encoding/base64"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// replicasOf returns two systems that share a service, and have the same objects.
func replicasOf(t *testing.T) (one, other clusters.System) {
	t.Helper()
	one = installed(t)
	one.Process.Service = "op"
	other = one
	one.Name, other.Name = "one", "other"
	return one, other
}

// with returns a system whose process differs.
func with(system clusters.System, change func(p *clusters.SystemProcess)) clusters.System {
	process := *system.Process
	change(&process)
	system.Process = &process
	return system
}

// restarted is a change that only restarts the process.
func restarted(p *clusters.SystemProcess) { p.Command = []string{"sleep", "2000"} }

// checkTrust checks that calls of a client configuration go to the service of systems, and trust exactly these.
func checkTrust(t *testing.T, s *Set, client map[string]any, names ...string) {
	t.Helper()
	if at, _ := client["url"].(string); !strings.HasPrefix(at, s.system(names[0]).place.Service.URL()+"/") {
		t.Errorf("called at %v, want the service", at)
	}
	want := ""
	for _, name := range names {
		ca, err := s.system(name).place.Authority()
		golden.Must(t, err)
		want += string(ca)
	}
	trusted, err := base64.StdEncoding.DecodeString(client["caBundle"].(string))
	golden.Must(t, err)
	if string(trusted) != want {
		t.Errorf("%v trusts %d bytes of certificates, want those of %v: %d", client["url"], len(trusted), names, len(want))
	}
}

// firstClient is the configuration of the first webhook of a ValidatingWebhookConfiguration.
func (c *fakeCluster) firstClient(name string) map[string]any {
	configuration := c.Object("validatingwebhookconfigurations", "", name)
	return configuration.Object["webhooks"].([]any)[0].(map[string]any)["clientConfig"].(map[string]any)
}

// Replicas share the webhooks of their definitions: they are called at the service, whichever replica answers, and stay
// as long as there is a replica. The last one can be changed, and another one can join it.
func TestReplicasShareWebhooks(t *testing.T) {
	c := newFakeCluster(t)
	s := newSet(t, c, Options{})
	one, other := replicasOf(t)
	check := func(names ...string) {
		t.Helper()
		checkTrust(t, s, c.firstClient("widgets"), names...)
		client, _, _ := unstructured.NestedMap(c.crd().Object, "spec", "conversion", "webhook", "clientConfig")
		checkTrust(t, s, client, names...)
	}
	converge(t, s, one)
	check("one")
	converge(t, s, one, other)
	check("one", "other")
	one = with(one, restarted)
	converge(t, s, one, other)
	check("one", "other")
	converge(t, s, other)
	check("other")
	other = with(other, restarted)
	converge(t, s, other)
	check("other")
	third := with(other, func(*clusters.SystemProcess) {})
	third.Name = "third"
	converge(t, s, other, third)
	check("other", "third")
	if len(c.deleted) > 0 {
		t.Errorf("deleted %v, which the other replica needs", c.deleted)
	}
	converge(t, s)
	if !reflect.DeepEqual(c.deleted, []string{webhookName, crdName}) {
		t.Errorf("deleted %v, want all that was made", c.deleted)
	}
}

// An object that one replica no longer has stays as long as another replica has it.
func TestObjectsThatAnotherReplicaHas(t *testing.T) {
	c := newFakeCluster(t)
	s := newSet(t, c, Options{})
	one, other := replicasOf(t)
	converge(t, s, one, other)
	without := func(p *clusters.SystemProcess) { p.Webhooks = nil }
	one = with(one, without)
	converge(t, s, one, other)
	if len(c.deleted) > 0 {
		t.Errorf("deleted %v, which the other replica has", c.deleted)
	}
	checkTrust(t, s, c.firstClient("widgets"), "one", "other")
	other = with(other, without)
	converge(t, s, one, other)
	if !reflect.DeepEqual(c.deleted, []string{webhookName}) {
		t.Errorf("deleted %v, want the webhooks that no replica has", c.deleted)
	}
}

// While replicas have different versions, the webhooks of each version trust both.
func TestReplicasOfTwoVersionsTrustEachOther(t *testing.T) {
	c := newFakeCluster(t)
	s := newSet(t, c, Options{})
	one, other := replicasOf(t)
	converge(t, s, one, other)
	other = with(other, func(p *clusters.SystemProcess) {
		p.Webhooks = []string{write(t, strings.Replace(widgetWebhook, "{name: widgets}", "{name: gadgets}", 1))}
	})
	converge(t, s, one, other)
	checkTrust(t, s, c.firstClient("widgets"), "one", "other")
	checkTrust(t, s, c.firstClient("gadgets"), "one", "other")
	one = with(one, restarted)
	converge(t, s, one, other)
	checkTrust(t, s, c.firstClient("widgets"), "one", "other")
	checkTrust(t, s, c.firstClient("gadgets"), "one", "other")
}

// A service answers as usual again when the replica that wanted something else leaves it. The webhooks are then proven.
func TestReplicaThatWantedOtherCallsLeaves(t *testing.T) {
	c := newFakeCluster(t)
	s := newSet(t, c, Options{})
	one, other := replicasOf(t)
	other.WebhookCalls = &clusters.WebhookCalls{Away: true}
	converge(t, s, one, other)
	if calls := s.system("one").place.Calls(); !calls.Away {
		t.Fatalf("calls are %+v, want away", calls)
	}
	left := with(other, func(p *clusters.SystemProcess) { p.Service = "" })
	left.Process.CRDs, left.Process.Webhooks = nil, nil
	left.WebhookCalls = nil
	converge(t, s, one, left)
	if calls := s.system("one").place.Calls(); calls.Away {
		t.Errorf("calls are %+v, want as usual", calls)
	}
}

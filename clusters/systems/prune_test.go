package systems

import (
	"encoding/base64"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/ports"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// versions returns a system, and its older version, which has no CRDs.
func versions(t *testing.T) (newer, older clusters.System) {
	newer = installed(t)
	older = newer
	process := *newer.Process
	process.CRDs = nil
	older.Process = &process
	return newer, older
}

// The CRDs of a newer version stay after a rollback, with their objects, until the system is removed. Their conversion
// webhooks trust the process that runs now.
func TestCRDsStayInARollback(t *testing.T) {
	c := newFakeCluster(t)
	s := newSet(t, c, Options{})
	newer, older := versions(t)
	converge(t, s, newer)
	bundle := func() string {
		client, _, _ := unstructured.NestedStringMap(c.crd().Object, "spec", "conversion", "webhook", "clientConfig")
		return client["caBundle"]
	}
	before := bundle()
	converge(t, s, older)
	if len(c.deleted) > 0 {
		t.Errorf("deleted %v", c.deleted)
	}
	ca, err := s.system("widgets").place.Authority()
	golden.Must(t, err)
	if now := bundle(); now == before || now != base64.StdEncoding.EncodeToString(ca) {
		t.Errorf("the conversion webhook trusts %q, want %q", now, ca)
	}
	converge(t, s, newer)
	converge(t, s, older)
	converge(t, s)
	if !reflect.DeepEqual(c.deleted, []string{webhookName, crdName}) {
		t.Errorf("deleted %v, want all that was made", c.deleted)
	}
}

// The conversion webhooks follow an older version that listens on another port.
func TestKeptCRDsAreConvertedByTheOlderVersion(t *testing.T) {
	c := newFakeCluster(t)
	s := newSet(t, c, Options{})
	newer, older := versions(t)
	free, err := ports.Reserve("127.0.0.1", 1)
	golden.Must(t, err)
	older.Process.WebhookPort = free.Numbers[0]
	defer free.Release()
	converge(t, s, newer)
	for _, definition := range []clusters.System{older, newer, older} {
		converge(t, s, definition)
		client, _, _ := unstructured.NestedStringMap(c.crd().Object, "spec", "conversion", "webhook", "clientConfig")
		if at := s.system("widgets").place.CalledAt(); !strings.HasPrefix(client["url"], at+"/") {
			t.Errorf("the conversion webhook is called at %s, want a path of %s", client["url"], at)
		}
	}
}

// A CRD that a scenario has deleted after a rollback is not missed.
func TestDeletedCRDIsForgotten(t *testing.T) {
	c := newFakeCluster(t)
	s := newSet(t, c, Options{})
	newer, older := versions(t)
	converge(t, s, newer)
	c.Server.Delete(crdResource, "", "widgets.test.rehearse.dev")
	converge(t, s, older)
	if objects := s.system("widgets").installation.Objects; len(objects) != 1 || objects[0].Name != "widgets" {
		t.Errorf("it knows %v", objects)
	}
}

// Nor is one that was deleted later, when nothing is installed again.
func TestCRDDeletedAfterTheRollbackIsForgotten(t *testing.T) {
	c := newFakeCluster(t)
	s := newSet(t, c, Options{})
	newer, older := versions(t)
	converge(t, s, newer)
	converge(t, s, older)
	c.Server.Delete(crdResource, "", "widgets.test.rehearse.dev")
	converge(t, s, older)
	if objects := s.system("widgets").installation.Objects; len(objects) != 1 || objects[0].Name != "widgets" {
		t.Errorf("it knows %v", objects)
	}
}

// A restore may bring back the objects of an earlier definition. They are deleted again.
func TestRestoredObjectsOfAnEarlierDefinition(t *testing.T) {
	c := newFakeCluster(t)
	s := newSet(t, c, Options{})
	system := installed(t)
	converge(t, s, system)
	before := c.webhooks().Object
	system = with(system, func(p *clusters.SystemProcess) { p.Webhooks = nil })
	converge(t, s, system)
	c.Put("validatingwebhookconfigurations", before)
	s.Reinstall()
	converge(t, s, system)
	if c.webhooks() != nil {
		t.Error("the configuration is still there, and trusts an authority that is gone")
	}
}

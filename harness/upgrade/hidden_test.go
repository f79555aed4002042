package upgrade

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// Reports do not contain values of Secrets or environment variables, however the API server quotes them.
func TestHide(t *testing.T) {
	objects, err := manifests.Sources{Paths: []string{manifests.Stdin}, Stdin: strings.NewReader(`
{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {p: aHVudGVyMg==}, stringData: {q: swordfish, url: "postgres://u:p@h/db?a=1&b=2"}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: [{env: [{name: A, value: hunter2-and-more}, {name: B, value: "1"}, {name: C, value: "true"}]}]}}}}
---
{apiVersion: example.com/v1, kind: Custom, metadata: {name: a}, spec: {pods: [{env: [{name: A, value: other-value}]}]}}
`)}.Load()
	if err != nil {
		t.Fatal(err)
	}
	h := newHidden()
	for _, o := range objects {
		h.of(o.Content)
	}
	r := &upgrades.Report{
		Findings: []*upgrades.Finding{{Words: `it is true that 1 is not hunter2-and-more, "hunter2", aHVudGVyMg==, swordfish, c3dvcmRmaXNo or other-value`}},
		Checks:   []*upgrades.Check{{Message: "hunter2"}},
		Failure:  "start with hunter2",
		Notes:    []string{`it says "url\": \"postgres://u:p@h/db?a=1\u0026b=2\""`},
	}
	h.hide(r)
	if r.Failure != "start with (hidden)" {
		t.Errorf("got %s", r.Failure)
	}
	if got, want := r.Findings[0].Words,
		`it is true that 1 is not (hidden), "(hidden)", (hidden), (hidden), (hidden) or (hidden)`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := r.Notes[0], `it says "url\": \"(hidden)\""`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := r.Checks[0].Message; got != "(hidden)" {
		t.Errorf("got %s", got)
	}
}

// An environment variable with an ordinary value does not make a report unreadable.
func TestOrdinaryValuesStay(t *testing.T) {
	objects, err := manifests.Sources{Paths: []string{manifests.Stdin}, Stdin: strings.NewReader(`
{apiVersion: v1, kind: Pod, metadata: {name: webshop, namespace: shop-1}, spec: {containers: [{env: [
  {name: MODE, value: server}, {name: LEVEL, value: Error}, {name: PORT, value: "8080"}, {name: NS, value: shop-1},
  {name: SERVICE, value: webshop}, {name: USER, value: admin}, {name: PASSWORD, value: pässword}]}]}}
`)}.Load()
	if err != nil {
		t.Fatal(err)
	}
	h := newHidden()
	h.of(objects[0].Content)
	const words = "error: the API server of webshop in shop-1 at 8080: administrators, admin-1 and user admin=pässword!"
	r := &upgrades.Report{Failure: words + " It ends with admin"}
	h.hide(r)
	if want := "error: the API server of webshop in shop-1 at 8080: administrators, (hidden)-1 and user " +
		"(hidden)=(hidden)! It ends with (hidden)"; r.Failure != want {
		t.Errorf("got %s, want %s", r.Failure, want)
	}
}

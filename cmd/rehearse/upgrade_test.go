package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// operatorFile defines a system that does nothing.
const operatorFile = "name: op\nversion: v1\nprocess: {command: [sh, -c, \"echo $(VERSION); sleep 1000\"]}\n"

func TestUpgradeRejectsWrongInput(t *testing.T) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	captured, operator := smallCapture(t), file(t, operatorFile)
	for _, test := range []struct{ name, args, stdin, want string }{
		{"no files", "--from 1.35 --to 1.36", "", "give the objects with -f or -k"},
		{"files as arguments", "--from 1.35 --to 1.36 a.yaml", "", `unexpected argument "a.yaml": name manifests with -f`},
		{"no version", "-f -", object, "-f, -k and --ordinary need --from"},
		{"ordinary objects and a capture", "--to 1.36 --ordinary --capture a", "", "use one kind of source"},
		{"a wrong shard", "--from 1.35 --to 1.36 -f - --shard 3/2", object, `--shard: shard "3/2": want NUMBER/ALL`},
		{
			"shards of a live cluster", "--to 1.36 --from-context b --shard 1/2", "",
			"--shard with --from-context: the objects of a live cluster may change between the shards",
		},
		{"a file that is not there", "--from 1.35 --to 1.36 -f missing.yaml", "", "missing.yaml: no such file"},
		{"no YAML", "--from 1.35 --to 1.36 -f -", "a: b: c\n", "stdin:1: not valid YAML"},
		{
			"a kind that no object has", "--from 1.35 --to 1.36 -f - --only Pod", object,
			`no object is of kind "Pod"; there are: ConfigMap`,
		},
		{
			"a gate that is neither on nor off", "--from 1.35 --feature-gates A=x -f -", object,
			"--feature-gates A=x: want true, false or nothing",
		},
		{"files and a capture", "--from 1.35 --to 1.36 -f - --capture a", object, "use one kind of source"},
		{"a capture and a context", "--to 1.36 --capture a --from-context b", "", "are alternatives"},
		{"a capture that is not there", "--to 1.36 --capture missing.capture", "", "missing.capture: no such file"},
		{"no capture", "--to 1.36 --capture upgrade_test.go", "", "read capture upgrade_test.go: it is not a capture"},
		{"a context that is not there", "--to 1.36 --from-context no-such", "", `context "no-such" does not exist; kubectl`},
		{"webhooks", "--to 1.36 --capture a --webhooks up", "", "--webhooks up: want allow or down"},
		{
			"a program that is none", "--from 1.34 --to 1.36 --capture CAPTURE --webhook a=b", "",
			"--webhook a=b: want NAME=process:PROGRAM",
		},
		{
			"a program that is not there", "--to 1.36 --capture CAPTURE --webhook a=process:./missing", "",
			"--webhook a=process:./missing: ",
		},
		{
			"objects that are newer", "--from 1.33 --to 1.36 --capture CAPTURE", "",
			"--from 1.33: the objects are of a cluster of version 1.34.4",
		},
		{"a snapshot without a version", "--to 1.36 --etcd-snapshot a.db", "", "--etcd-snapshot needs --from"},
		{"a snapshot that is not there", "--from 1.34 --to 1.36 --etcd-snapshot a.db", "", "a.db: open a.db: no such file"},
		{"no snapshot", "--from 1.34 --to 1.36 --etcd-snapshot upgrade_test.go", "", "it is truncated or not an etcd backup"},
		{
			"an encryption of nothing", "--to 1.36 --capture a --encryption-config b", "",
			"--encryption-config is for --etcd-snapshot",
		},
		{
			"a system of no file", "--from 1.35 --to 1.36 -f - --system my=process:", object,
			"--system my=process:: want NAME=process:FILE or NAME=module:FILE",
		},
		{
			"an upgrade of no system", "--from 1.35 --to 1.36 -f - --upgrade my=process:OPERATOR", object,
			"--upgrade my: there is no system to upgrade",
		},
		{
			"a system of another kind", "--from 1.35 --to 1.36 -f - --system my=module:OPERATOR", object,
			"defines a system of kind process",
		},
		{
			"a system twice", "--from 1.35 --to 1.36 -f - --system my=process:OPERATOR --system my=process:OPERATOR", object,
			"it is given twice",
		},
		{
			"a system on a copy", "--to 1.36 --capture a --system my=process:OPERATOR", "",
			"--system and --upgrade need -f, -k or --ordinary",
		},
		{
			"a definition as a webhook", "--to 1.36 --capture CAPTURE --webhook a=process:op.yaml", "",
			"--webhook a=process:op.yaml: want the program itself; only --system takes a file that defines one",
		},
		{
			"a webhook of objects", "--from 1.35 --to 1.36 -f - --webhook a=process:OPERATOR", object,
			"--webhook needs --from-context, --capture or --etcd-snapshot; with -f, -k or --ordinary, name the program " +
				"with --system",
		},
		{
			"Secrets of objects", "--from 1.35 --to 1.36 -f - --with-secrets", object,
			"--with-secrets is for --from-context",
		},
		{
			"Secrets of a capture", "--to 1.36 --capture CAPTURE --with-secrets", "",
			"--with-secrets is for --from-context: a file of rehearse capture has the values if that command had the flag",
		},
		{
			"manifests as a system", "--from 1.35 --to 1.36 -f - --system my=manifests:x.yaml", object,
			"--system my=manifests:x.yaml: this command runs local clusters, whose nodes run no containers; want " +
				"NAME=process:FILE or NAME=module:FILE",
		},
		{
			"only what every cluster has", "--from 1.35 --to 1.36 -f -",
			"apiVersion: v1\nkind: Service\nmetadata: {name: kubernetes, namespace: default, uid: a}\n",
			"nothing is left to rehearse: objects left out: 1, because every cluster creates them itself",
		},
		{"no version at all", "--from one --to 1.36 -f -", object, `version "one"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := strings.Fields(strings.NewReplacer("CAPTURE", captured, "OPERATOR", operator).Replace(test.args))
			rejected(t, test.stdin, append([]string{"upgrade"}, args...), test.want)
		})
	}
}

// --nodes is the number of nodes in the plan, also for a copy.
func TestNodesOfAnUpgrade(t *testing.T) {
	for _, objects := range []string{"-f -", "--capture " + smallCapture(t)} {
		planned(t, strings.Fields("upgrade --from 1.34.4 --to 1.35.4 --nodes 7 "+objects),
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "nodes=7")
	}
}

// An operator beside the objects is upgraded after Kubernetes. One that does not start is a finding.
func TestUpgradeOfSystems(t *testing.T) {
	needsClusters(t)
	object := file(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n")
	run := func(next string) (int, string) {
		code, out, errs := command(t, "upgrade", "--from", "1.36.3", "--system", "my=process:"+file(t, operatorFile),
			"--upgrade", "my=process:"+file(t, next), "-f", object, "--settle", "100ms", "--no-rollback",
			"--report-dir", t.TempDir())
		return code, out + errs
	}
	code, out := run(strings.ReplaceAll(operatorFile, "v1", "v2"))
	if want := "1.36.3, my v1 -> 1.36.3, my v2: 1 object; 0 break"; code != cli.ExitOK || !strings.Contains(out, want) {
		t.Errorf("exit code %d, no %q in\n%s", code, want, out)
	}
	code, out = run("name: my\nversion: v2\nprocess: {command: [sh, -c, echo no such flag; exit 7], " +
		"ready: {tcp: $(HEALTH_ADDRESS)}}\n")
	for _, want := range []string{"1 breaks", "system my does not come up", "no such flag"} {
		if code != cli.ExitFailed || !strings.Contains(out, want) {
			t.Errorf("exit code %d, no %q in\n%s", code, want, out)
		}
	}
}

// smallCapture returns the file of a capture of a cluster that has one namespace.
func smallCapture(t *testing.T) string {
	t.Helper()
	answers := map[string]string{
		"/version":           `{"gitVersion":"v1.34.4"}`,
		"/api":               `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis":              `{"kind":"APIGroupList"}`,
		"/api/v1":            `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"namespaces","kind":"Namespace","verbs":["list"]}]}`,
		"/api/v1/namespaces": `{"kind":"NamespaceList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}`,
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if answers[r.URL.Path] == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprint(w, answers[r.URL.Path])
	}))
	defer web.Close()
	kubeconfig, file := filepath.Join(t.TempDir(), "config"), filepath.Join(t.TempDir(), "a.capture")
	text := fmt.Sprintf("{clusters: [{name: a, cluster: {server: %q}}], contexts: [{name: prod, context: {cluster: a}}]}",
		web.URL)
	golden.Write(t, kubeconfig, text)
	out := exits(t, cli.ExitOK, "capture", "--kubeconfig", kubeconfig, "--context", "prod", "-o", file)
	if !strings.Contains(out, "1 objects of 1 kinds of cluster prod") {
		t.Errorf("it says %s", out)
	}
	return file
}

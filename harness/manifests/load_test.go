package manifests

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rehearse-dev/rehearse/harness/manifests/ordinary"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestLoad(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"one", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "ConfigMap a stdin:1"},
		{"several, with comments and empty parts", "# Source: chart/a.yaml\n---\n\n# nothing\n---\n# first\napiVersion: " +
			"v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n--- # second\napiVersion: v1\nkind: Secret\nmetadata: " +
			"{name: a}\n", "ConfigMap b/a stdin:7\nSecret a stdin:11"},
		{"a List", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n- " +
			"{apiVersion: v1, kind: Pod, metadata: {name: b}}\n", "Pod a stdin:1\nPod b stdin:1"},
		{"JSON", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`, "Pod a stdin:1"},
		{"as kubectl reads it, YAML 1.1", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {x: " +
			"\"yes\"}}\nimmutable: yes\n", "ConfigMap a stdin:1"},
		{
			"a syntax error, in its own line", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\nkind: b\n  x: y\n",
			"stdin:6: not valid YAML: mapping values are not allowed in this context",
		},
		{"UTF-16", "\xff\xfea\x00", "stdin:1: the file is UTF-16 text, as PowerShell writes it; save it as UTF-8"},
		{
			"a kustomization", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n",
			"stdin:1: a kustomization is no object of the cluster: build it (kubectl kustomize), or give its folder to " +
				"rehearse upgrade with -k",
		},
		{"no object", "- a\n", "stdin:1: not a Kubernetes object: want apiVersion, kind and metadata"},
		{"no kind", "\n\nreplicas: 3\n", "stdin:3: not a Kubernetes object: apiVersion or kind is missing; name files, or " +
			"use a folder of manifests only"},
		{
			"no name", "apiVersion: v1\nkind: Pod\nmetadata: {name: 1}\n",
			"stdin:1: Pod: metadata.name is missing or not a string",
		},
		{
			"generated names", "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n---\napiVersion: v1\nkind: Pod\n" +
				"metadata: {generateName: a-}\n", "Pod a-rehearse1 stdin:1\nPod a-rehearse2 stdin:5",
		},
		{
			"two of one name", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n---\napiVersion: " +
				"apps/v1beta1\nkind: Deployment\nmetadata: {name: a}\n",
			"stdin:5: Deployment a is also at stdin:1; remove one of them",
		},
		{
			"text after ---", "kind: a\napiVersion: v1\nmetadata: {name: a}\n--- {apiVersion: v1, kind: b}\n---\t# comment\r\n" +
				"--- !a\nkind: c\n",
			"stdin:4: there is text after ---; begin the document on the next line\n" +
				"stdin:6: there is text after ---; begin the document on the next line",
		},
		{"nothing", "# nothing\n", `no objects in ["-"]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			objects, err := Sources{Paths: []string{Stdin}, Stdin: strings.NewReader(test.text)}.Load()
			var got []string
			for _, o := range objects {
				got = append(got, fmt.Sprintf("%s %s", o, o.Place()))
			}
			if err != nil {
				got = append(got, err.Error())
			}
			if text := strings.Join(got, "\n"); text != test.want {
				t.Errorf("got\n%s\nwant\n%s", text, test.want)
			}
		})
	}
}

func TestLoadReadsFolders(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"b.yaml":    "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\n",
		"sub/a.yml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", "README.md": "# no manifest",
	} {
		path := filepath.Join(dir, name)
		golden.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		golden.Write(t, path, text)
	}
	objects, err := Sources{Paths: []string{dir, filepath.Join(dir, "b.yaml")}}.Load()
	if err != nil || len(objects) != 2 {
		t.Errorf("%d objects, %v; want each file's once", len(objects), err)
	}
	// A folder that was given before, through a link, and with the hidden folders of a mounted ConfigMap.
	golden.Must(t, os.MkdirAll(filepath.Join(dir, "..2026"), 0o755))
	golden.Write(t, filepath.Join(dir, "..2026", "c.yaml"), "apiVersion: v1\nkind: Pod\nmetadata: {name: c}\n")
	golden.Must(t, os.Symlink(filepath.Join("..2026", "c.yaml"), filepath.Join(dir, "c.yaml")))
	link := filepath.Join(t.TempDir(), "link")
	golden.Must(t, os.Symlink(dir, link))
	for _, paths := range [][]string{{dir, dir}, {link}} {
		objects, err := Sources{Paths: paths}.Load()
		golden.Must(t, err)
		var names []string
		for _, o := range objects {
			names = append(names, o.Content.GetName())
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != "a b c" {
			t.Errorf("%q has %s, want a b c", paths, got)
		}
	}
	if _, err := (Sources{Paths: []string{filepath.Join(dir, "missing")}}).Load(); err == nil {
		t.Error("a folder that is not there is read")
	}
	if _, err := (Sources{Paths: []string{t.TempDir()}}).Load(); err == nil || !strings.Contains(err.Error(),
		"no *.yaml, *.yml or *.json below") {
		t.Errorf("an empty folder: %v", err)
	}
}

// The items of a typed list need not say what they are. A document of many lines is read in one go.
func TestLoadReadsLists(t *testing.T) {
	list := "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n"
	objects, err := Sources{Paths: []string{Stdin}, Stdin: strings.NewReader("# first\n---\n" + list + "---\n# last\n")}.Load()
	golden.Must(t, err)
	if len(objects) != 2 || objects[1].Content.GetKind() != "ConfigMap" || objects[1].Content.GetAPIVersion() != "v1" {
		t.Errorf("got %v", objects)
	}
	long := strings.Repeat("# a comment\n", 300_000)
	documents, err := split("long.yaml", "a: 1\n"+long+"---\nb: 2")
	golden.Must(t, err)
	if len(documents) != 2 || documents[0].text != "a: 1\n"+long || documents[1].text != "b: 2" || documents[1].line != 300_003 {
		t.Errorf("%d documents", len(documents))
	}
}

func TestInOrder(t *testing.T) {
	text := ""
	for _, kind := range []string{
		"ValidatingWebhookConfiguration", "Order", "Deployment", "Service", "ServiceCIDR", "ConfigMap",
		"CustomResourceDefinition", "Namespace",
	} {
		text += fmt.Sprintf("apiVersion: v1\nkind: %s\nmetadata: {name: a}\n---\n", kind)
	}
	objects, err := Sources{Paths: []string{Stdin}, Stdin: strings.NewReader(text)}.Load()
	golden.Must(t, err)
	var kinds []string
	for _, o := range InOrder(objects) {
		kinds = append(kinds, o.Content.GetKind())
	}
	if got, want := strings.Join(kinds, " "), "Namespace CustomResourceDefinition ConfigMap ServiceCIDR Service Order Deployment "+
		"ValidatingWebhookConfiguration"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSelect(t *testing.T) {
	objects, err := Sources{Paths: []string{Stdin}, Stdin: strings.NewReader("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " +
		"a}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n" +
		"apiVersion: v1\nkind: Pod\nmetadata: {name: b, namespace: shop}\n")}.Load()
	golden.Must(t, err)
	for _, test := range []struct {
		name         string
		only, except []string
		want         string
	}{
		{"all", nil, nil, "1 Deployment.apps, 2 Pod"},
		{"only one", []string{"deployment"}, nil, "1 Deployment.apps"},
		{"with its group", []string{"Deployment.apps"}, nil, "1 Deployment.apps"},
		{"all but one", nil, []string{"Pod"}, "1 Deployment.apps"},
		{"a kind that no object has", []string{"Job"}, nil, `no object is of kind "Job"; there are: Deployment.apps, Pod`},
		{"a namespace", []string{"shop/"}, nil, "1 Pod"},
		{"a kind in a namespace", nil, []string{"shop/pod"}, "1 Deployment.apps, 1 Pod"},
		{
			"a namespace that no object is in",
			[]string{"bank/"},
			nil,
			`no object is of "bank/"; there are these namespaces: mine, shop`,
		},
		{"the namespace of those that name none", []string{"mine/"}, nil, "1 Deployment.apps, 1 Pod"},
		{"none left", []string{"Pod"}, []string{"Pod"}, "none of 3 objects is left"},
	} {
		t.Run(test.name, func(t *testing.T) {
			kept, err := Selection{test.only, test.except, "mine"}.Of(objects)
			got := Counts(kept)
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestSelectionWants(t *testing.T) {
	for _, test := range []struct {
		only, except string
		resource     string
		want         bool
	}{
		{"", "", "pods", true},
		{"Pod", "", "pods", true},
		{"Pod", "", "deployments.apps", false},
		{"Ingress.networking.k8s.io", "", "ingresses.networking.k8s.io", true},
		{"Ingress.extensions", "", "ingresses.networking.k8s.io", false},
		{"shop/", "", "pods", true},
		{"shop/NetworkPolicy", "", "networkpolicies.networking.k8s.io", true},
		{"", "Pod", "pods", false},
		{"", "shop/Pod", "pods", true},
	} {
		var s Selection
		if test.only != "" {
			s.Only = []string{test.only}
		}
		if test.except != "" {
			s.Except = []string{test.except}
		}
		if got := s.Wants(test.resource); got != test.want {
			t.Errorf("%+v wants %s: %t", s, test.resource, got)
		}
	}
}

func TestSelectionWantsIn(t *testing.T) {
	for _, test := range []struct {
		only, except        string
		namespace, resource string
		want                bool
	}{
		{"", "", "shop", "secrets", true},
		{"Deployment", "", "shop", "secrets", false},
		{"Deployment", "", "shop", "deployments.apps", true},
		{"Deployment.apps", "", "shop", "Deployment.apps", true},
		{"APIService", "", "", "APIService.apiregistration.k8s.io", true},
		{"shop/", "", "shop", "secrets", true},
		{"shop/", "", "bank", "secrets", false},
		{"shop/", "", "", "nodes", false},
		{"", "Secret", "shop", "secrets", false},
		{"", "shop/Secret", "shop", "secrets", false},
		{"", "shop/Secret", "bank", "secrets", true},
		{"", "Service.serving.example.com", "shop", "services", true},
	} {
		var s Selection
		if test.only != "" {
			s.Only = []string{test.only}
		}
		if test.except != "" {
			s.Except = []string{test.except}
		}
		if got := s.WantsIn(test.namespace, test.resource); got != test.want {
			t.Errorf("%+v wants %s in %q: %t", s, test.resource, test.namespace, got)
		}
	}
}

// A kustomization is built as kubectl builds it, and its errors are reported.
func TestLoadBuildsKustomizations(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"base/a.yaml":                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: y}\n",
		"base/kustomization.yaml":    "resources: [a.yaml]\n",
		"overlay/kustomization.yaml": "resources: [../base]\nnamePrefix: prod-\nnamespace: shop\n",
		"wrong/kustomization.yaml":   "resources: [missing.yaml]\n",
		"none/a.yaml":                "",
	} {
		path := filepath.Join(dir, name)
		golden.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		golden.Write(t, path, text)
	}
	overlay := filepath.Join(dir, "overlay")
	objects, err := Sources{Overlays: []string{overlay}}.Load()
	if err != nil || len(objects) != 1 {
		t.Fatalf("%d objects, %v", len(objects), err)
	}
	if got := objects[0].String() + " " + objects[0].Place(); got != "ConfigMap shop/prod-a "+overlay {
		t.Errorf("got %s", got)
	}
	for name, want := range map[string]string{
		"wrong": "missing.yaml", "none": "kustomization",
		"missing": "build kustomization",
	} {
		if _, err := (Sources{Overlays: []string{filepath.Join(dir, name)}}).Load(); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (Sources{
		Paths:    []string{filepath.Join(dir, "base/a.yaml")},
		Overlays: []string{filepath.Join(dir, "base")},
	}).Load(); err == nil || !strings.Contains(err.Error(), "is also at") {
		t.Errorf("an object that is there twice: %v", err)
	}
}

// The objects that are embedded in the program are those of the folder, each with its file and line.
func TestLoadReadsWhatComesWithTheProgram(t *testing.T) {
	embedded, err := Sources{Files: ordinary.Files()}.Load()
	golden.Must(t, err)
	folder, err := Sources{Paths: []string{"ordinary"}}.Load()
	golden.Must(t, err)
	if got, want := Counts(embedded), Counts(folder); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := embedded[0].Place(), "charts.yaml:2"; got != want {
		t.Errorf("the first object is at %s, want %s", got, want)
	}
	broken := fstest.MapFS{"a.yaml": {Data: []byte("kind: [")}, "b.txt": {Data: []byte("kind: [")}}
	if _, err := (Sources{Files: broken}).Load(); err == nil || !strings.Contains(err.Error(), "a.yaml:") {
		t.Errorf("a manifest that cannot be parsed: %v", err)
	}
}

// A hidden file in a folder is read like each other.
func TestLoadReadsHiddenFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for file, name := range map[string]string{".a.yaml": "hidden", "a.yaml": "shown"} {
		golden.Write(t, file, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+"}}")
	}
	objects, err := Sources{Paths: []string{"."}}.Load()
	golden.Must(t, err)
	var names []string
	for _, o := range objects {
		names = append(names, o.Content.GetName())
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "hidden shown" {
		t.Errorf("got %s", got)
	}
}

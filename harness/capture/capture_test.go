package capture

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/harness/storage"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// server answers like a kube-apiserver that forbids access to some of its resources.
type server struct {
	mu sync.Mutex
	// asked are the methods and paths of all requests.
	asked []string
	// expired is how many further pages are answered with 410.
	expired int
	// silent is how many further requests for ConfigMaps are answered with 503.
	silent int
}

const forbidden = `{"kind":"Status","status":"Failure","reason":"Forbidden","code":403,"message":"secrets is forbidden"}`

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	code, body := s.answer(r)
	w.WriteHeader(code)
	fmt.Fprint(w, body)
}

func (s *server) answer(r *http.Request) (int, string) {
	resources := func(gv string, all ...string) (int, string) {
		return 200, fmt.Sprintf(`{"kind":"APIResourceList","groupVersion":%q,"resources":[%s]}`, gv, strings.Join(all, ","))
	}
	resource := func(name, kind string) string {
		return fmt.Sprintf(`{"name":%q,"kind":%q,"namespaced":true,"verbs":["get","list"]}`, name, kind)
	}
	switch r.URL.Path {
	case "/version":
		return 200, `{"gitVersion":"v1.34.4-gke.7"}`
	case "/metrics":
		return 403, forbidden
	case "/api":
		return 200, `{"kind":"APIVersions","versions":["v1"]}`
	case "/apis":
		return 200, `{"kind":"APIGroupList","groups":[
			{"name":"example.com","versions":[{"groupVersion":"example.com/v2","version":"v2"},{"groupVersion":"example.com/v1","version":"v1"}]},
			{"name":"autoscaling","versions":[{"groupVersion":"autoscaling/v2","version":"v2"},{"groupVersion":"autoscaling/v1","version":"v1"}]},
			{"name":"metrics.k8s.io","versions":[{"groupVersion":"metrics.k8s.io/v1beta1","version":"v1beta1"}]},
			{"name":"other.example.org","versions":[{"groupVersion":"other.example.org/v1","version":"v1"}]}]}`
	case "/api/v1":
		return resources("v1", resource("configmaps", "ConfigMap"), resource("secrets", "Secret"),
			resource("services", "Service"), resource("events", "Event"),
			`{"name":"bindings","kind":"Binding","verbs":["create"]}`)
	case "/apis/example.com/v1", "/apis/example.com/v2":
		return resources(strings.TrimPrefix(r.URL.Path, "/apis/"), resource("orders", "Order"))
	case "/apis/autoscaling/v1", "/apis/autoscaling/v2":
		return resources(strings.TrimPrefix(r.URL.Path, "/apis/"), resource("horizontalpodautoscalers",
			"HorizontalPodAutoscaler"))
	case "/apis/autoscaling/v2/horizontalpodautoscalers": // only the preferred version can be listed
		return 200,
			`{"kind":"HorizontalPodAutoscalerList","apiVersion":"autoscaling/v2","items":[{"metadata":{"name":"h","namespace":"n"}}]}`
	case "/apis/metrics.k8s.io/v1beta1":
		return resources("metrics.k8s.io/v1beta1", resource("pods", "PodMetrics"))
	case "/apis/other.example.org/v1":
		return resources("other.example.org/v1", resource("things", "Thing"))
	case "/apis/apiextensions.k8s.io/v1/customresourcedefinitions":
		return 200,
			`{"kind":"CustomResourceDefinitionList","apiVersion":"apiextensions.k8s.io/v1","items":[{"metadata":{"name":"orders.example.com"},"spec":{"versions":[{"name":"v2","served":true},{"name":"v1","served":true,"storage":true}]}}]}`
	case "/apis/apiregistration.k8s.io/v1/apiservices":
		return 403, forbidden
	case "/api/v1/services":
		return 403, forbidden
	case "/api/v1/secrets":
		return 200,
			`{"kind":"SecretList","apiVersion":"v1","items":[{"metadata":{"name":"a","namespace":"n","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"p\":\"c2VjcmV0\"},\"stringData\":{\"q\":\"secret\"}}","example.com/original":"{\"data\":{\"p\":\"c2VjcmV0\"},\"was\":\"secret\"}"}},"data":{"p":"c2VjcmV0",".dockerconfigjson":"eyJhIjoic2VjcmV0In0="}}]}`
	case "/apis/example.com/v1/orders":
		return 200,
			`{"kind":"OrderList","apiVersion":"example.com/v1","items":[{"apiVersion":"example.com/v1","kind":"Order","metadata":{"name":"o","namespace":"n"},"spec":{"n":9007199254740993}}]}`
	case "/api/v1/configmaps":
		return s.configMaps(r.URL.Query().Get("continue"))
	}
	return 404, `{"kind":"Status","status":"Failure","reason":"NotFound","code":404}`
}

// configMaps answers in two pages.
func (s *server) configMaps(from string) (int, string) {
	if s.silent > 0 {
		s.silent--
		return 503, `{"kind":"Status","status":"Failure","reason":"ServiceUnavailable","code":503}`
	}
	if from == "" {
		return 200,
			`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"continue":"x"},"items":[{"metadata":{"name":"a","namespace":"n"}}]}`
	}
	if s.expired > 0 {
		s.expired--
		return 410, `{"kind":"Status","status":"Failure","reason":"Expired","code":410}`
	}
	return 200, `{"kind":"ConfigMapList","apiVersion":"v1","items":[{"metadata":{"name":"b","namespace":"n"}}]}`
}

func exported(t *testing.T, s *server, o Options) *Capture {
	t.Helper()
	web := httptest.NewServer(s)
	defer web.Close()
	source, err := NewSource("prod", &rest.Config{Host: web.URL})
	golden.Must(t, err)
	source.wait = time.Millisecond
	o.Progress, o.Now = t.Logf, func() time.Time { return time.Unix(0, 0) }
	var held bytes.Buffer
	if _, err := source.Export(t.Context(), &held, o); err != nil {
		t.Fatal(err)
	}
	c, err := InMemory("prod", held.Bytes())
	golden.Must(t, err)
	return c
}

// Each readable object is exported once. A custom resource is exported in its stored version. Kinds that cannot be read
// are listed. Only reads are sent.
func TestExport(t *testing.T) {
	s := &server{expired: 1, silent: 2}
	c := exported(t, s, Options{})
	var got []string
	err := c.Each(func(r storage.Resource, o *unstructured.Unstructured) error {
		got = append(got, r.Key(o.GetNamespace(), o.GetName())+" "+o.GetAPIVersion()+" "+o.GetKind())
		if n, ok, _ := unstructured.NestedInt64(o.Object, "spec", "n"); o.GetKind() == "Order" &&
			(!ok || n != 9007199254740993) {
			t.Errorf("a whole number is %v", o.Object["spec"])
		}
		return nil
	})
	golden.Must(t, err)
	slices.Sort(got)
	want := []string{
		"/registry/configmaps/n/a v1 ConfigMap", "/registry/configmaps/n/b v1 ConfigMap",
		"/registry/example.com/orders/n/o example.com/v1 Order",
		"/registry/horizontalpodautoscalers/n/h autoscaling/v2 HorizontalPodAutoscaler", "/registry/secrets/n/a v1 Secret",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, line := range []string{
		"5 objects of 4 kinds of cluster prod (Kubernetes v1.34.4-gke.7)",
		"feature gates could not be read: read /metrics: Forbidden", "not read: services: secrets is forbidden",
		"not read: things.other.example.org: its group is not", "left out: events: ",
		"left out: metrics.k8s.io/v1beta1: it is served by an aggregated API server",
	} {
		if !strings.Contains(c.String(), line) {
			t.Errorf("%q is not said:\n%s", line, c.String())
		}
	}
	if c.Version != "1.34.4" {
		t.Errorf("version %s", c.Version)
	}
	for _, request := range s.asked {
		if !strings.HasPrefix(request, "GET ") {
			t.Errorf("the source got %s", request)
		}
	}
}

func TestNothingIsWrittenToTheSource(t *testing.T) {
	request := httptest.NewRequest(http.MethodPatch, "/api/v1/namespaces", nil)
	_, err := (readOnly{http.DefaultTransport}).RoundTrip(request) //nolint:bodyclose // an error has no body
	if err == nil || !strings.Contains(err.Error(), "is only read") {
		t.Errorf("a PATCH: %v", err)
	}
}

// By default, a capture does not contain the values of Secrets. Dummies of the same length replace them.
func TestSecretsAreHidden(t *testing.T) {
	for _, keep := range []bool{false, true} {
		var text []byte
		err := exported(t, &server{}, Options{Secrets: keep}).Each(func(_ storage.Resource,
			o *unstructured.Unstructured,
		) error {
			if o.GetKind() == "Secret" {
				text, _ = json.Marshal(o.Object)
			}
			return nil
		})
		golden.Must(t, err)
		for _, value := range []string{"secret\"", "c2VjcmV0", "eyJhIjoic2VjcmV0In0="} {
			if strings.Contains(strings.ReplaceAll(string(text), `\"`, `"`), value) != keep {
				t.Errorf("with secrets: %t: %s: %s", keep, value, text)
			}
		}
	}
	if got := dummy(".dockerconfigjson", 10); !json.Valid([]byte(got)) || len(got) != 10 {
		t.Errorf("%q is no JSON of ten bytes", got)
	}
}

// A value is also found where Go or JSON quotes it, with or without escaped HTML, even if it begins and ends with a
// quote.
func TestSecretValues(t *testing.T) {
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"data":       map[string]any{"p": base64.StdEncoding.EncodeToString([]byte("\"a<b\"\a")), "on": "dHJ1ZQ==", "n": "MTI="},
		"stringData": map[string]any{"q": "plain"},
	}}
	got := SecretValues(secret)
	for _, want := range []string{
		"\"a<b\"\a", `\"a<b\"\a`, `\"a\u003cb\"\u0007`, `\"a<b\"\u0007`, "ImE8YiIH", "plain", "cGxhaW4=",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among %q", want, got)
		}
	}
	for _, common := range []string{"true", "12"} {
		if slices.Contains(got, common) {
			t.Errorf("%s, which occurs everywhere, is among %q", common, got)
		}
	}
	if !slices.IsSortedFunc(got, func(a, b string) int { return len(b) - len(a) }) {
		t.Errorf("the longest are not first: %q", got)
	}
	secret.SetKind("ConfigMap")
	if got := SecretValues(secret); got != nil {
		t.Errorf("a ConfigMap has %q", got)
	}
}

func TestOpenRejects(t *testing.T) {
	var whole bytes.Buffer
	archive, err := newWriter(&whole)
	if err == nil {
		err = archive.finish(&Index{})
	}
	var other bytes.Buffer
	another, err2 := newWriter(&other)
	if err2 == nil {
		err2 = another.entry(headerFile, header{Format: Format + 1})
	}
	var cut bytes.Buffer
	unfinished, err3 := newWriter(&cut)
	if err3 == nil {
		err3 = unfinished.packed.Close()
	}
	if err != nil || err2 != nil || err3 != nil || another.packed.Close() != nil {
		t.Fatal(err, err2, err3)
	}
	damaged := bytes.Clone(whole.Bytes())
	damaged[len(damaged)-8] ^= 1 // the checksum
	dir := t.TempDir()
	for _, test := range []struct {
		name, want string
		data       []byte
	}{
		{"whole", "", whole.Bytes()},
		{"text", "it is not a capture", []byte("apiVersion: v1\n")},
		{"empty", "it is not a capture", nil},
		{"cut", "it is truncated", whole.Bytes()[:whole.Len()/2]},
		{"with another checksum", "it is damaged", damaged},
		{"without an index", "it is truncated", cut.Bytes()},
		{"newer", "it has format 2, and this rehearse reads format 1", other.Bytes()},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(dir, test.name)
			golden.Write(t, path, test.data)
			_, err := Open(path)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if _, err := Open(filepath.Join(dir, "missing")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// A failed export leaves no file. The file of a successful one can only be read by its owner. No file is overwritten.
func TestExportTo(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no",
			http.StatusForbidden)
	}))
	defer web.Close()
	path := filepath.Join(t.TempDir(), "a.capture")
	for _, handler := range []http.Handler{web.Config.Handler, &server{}} {
		web.Config.Handler = handler
		source, err := NewSource("prod", &rest.Config{Host: web.URL})
		golden.Must(t, err)
		_, fails := handler.(http.HandlerFunc)
		_, err = source.ExportTo(t.Context(), path, Options{Progress: t.Logf, Now: time.Now})
		info, statErr := os.Stat(path)
		switch {
		case fails && (err == nil || statErr == nil):
			t.Errorf("an export that fails: %v, and there is a file: %t", err, statErr == nil)
		case !fails && (err != nil || statErr != nil || info.Mode().Perm() != 0o600):
			t.Errorf("%v, %v", err, statErr)
		case !fails:
			if _, err := source.ExportTo(t.Context(), path, Options{Progress: t.Logf, Now: time.Now}); err == nil {
				t.Error("a file is overwritten")
			}
		}
	}
}

// Some tools keep the manifest of a Secret in an annotation, compressed.
func TestCompressedAnnotationsOfSecrets(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	fmt.Fprint(w, `{"data":{"p":"c2VjcmV0"}}`)
	golden.Must(t, w.Close())
	text := base64.RawStdEncoding.EncodeToString(packed.Bytes())
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"p": "c2VjcmV0"},
		"metadata": map[string]any{"name": "a", "annotations": map[string]any{
			"objectset.rio.cattle.io/applied": text, "note": "H4sI is how gzip begins",
		}},
	}}
	hideSecrets(o)
	got := o.GetAnnotations()
	if got["objectset.rio.cattle.io/applied"] != strings.Repeat("x", len(text)) || got["note"] != "H4sI is how gzip begins" {
		t.Errorf("%q", got)
	}
}

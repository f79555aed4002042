package window_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/harness/window"
	"github.com/rehearse-dev/rehearse/internal/apitest"
)

// through handles the requests to one of the API servers.
type through func(next http.RoundTripper, request *http.Request) (*http.Response, error)

type transport struct {
	next http.RoundTripper
	do   through
}

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	return t.do(t.next, request)
}

func faithful(next http.RoundTripper, request *http.Request) (*http.Response, error) {
	return next.RoundTrip(request)
}

// showing replaces text in the answers to some requests.
func showing(method, path, old, new string) through {
	return func(next http.RoundTripper, request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err != nil || request.Method != method || !strings.HasSuffix(request.URL.Path, path) {
			return response, err
		}
		body, err := io.ReadAll(response.Body)
		response.Body = io.NopCloser(strings.NewReader(strings.ReplaceAll(string(body), old, new)))
		response.ContentLength = -1
		return response, err
	}
}

// storing replaces text in updates.
func storing(old, new string) through {
	return func(next http.RoundTripper, request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodPut {
			body, err := io.ReadAll(request.Body)
			if err != nil {
				return nil, err
			}
			body = bytes.ReplaceAll(body, []byte(old), []byte(new))
			request = request.Clone(request.Context())
			request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		return next.RoundTrip(request)
	}
}

// answering answers some requests itself.
func answering(method, path string, code int, text string) through {
	return func(next http.RoundTripper, request *http.Request) (*http.Response, error) {
		if request.Method != method || !strings.HasSuffix(request.URL.Path, path) {
			return next.RoundTrip(request)
		}
		return &http.Response{
			StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
			Body: io.NopCloser(strings.NewReader(text)),
		}, nil
	}
}

// selecting rejects lists by a field.
func selecting(field string) through {
	return func(next http.RoundTripper, request *http.Request) (*http.Response, error) {
		if !strings.HasPrefix(request.URL.Query().Get("fieldSelector"), field+"=") {
			return next.RoundTrip(request)
		}
		return answering(http.MethodGet, request.URL.Path, 400,
			`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"BadRequest","message":"no","code":400}`,
		)(next, request)
	}
}

const rejection = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","message":"no","code":422}`

func configMap(namespace, name string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": namespace},
		"data": map[string]any{"color": "red"},
	}
}

func service(name string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": name, "namespace": "default"},
		"spec": map[string]any{"clusterIPs": []any{"10.0.0.1"}},
	}
}

var policies = apitest.Kind{
	GVK: schema.GroupVersionKind{
		Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicy",
	},
	Resource: "validatingadmissionpolicies",
}

// server has a namespace, an object in it, and a policy.
func server(t *testing.T) *apitest.Server {
	s := apitest.New(t, policies)
	s.Put("namespaces", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "default"}})
	s.Put("configmaps", configMap("default", "a"))
	s.Put(policies.Resource, map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
		"metadata": map[string]any{"name": "p"},
	})
	return s
}

func judge(t *testing.T, s *apitest.Server, older, newer through, checks ...string) window.Verdict {
	t.Helper()
	verdict, err := judgeIn(t.Context(), s, older, newer, checks...)
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

func judgeIn(ctx context.Context, s *apitest.Server, older, newer through, checks ...string) (window.Verdict, error) {
	as := func(name, version string, do through) window.Server {
		config := rest.CopyConfig(s.Config())
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return transport{next, do} })
		return window.Server{Name: name, Version: version, REST: config}
	}
	leads := as("new", "1.36.3", newer)
	if slices.Contains(checks, "leader, without one") {
		checks = []string{"leader"}
		leads.Name = ""
	} else if slices.Contains(checks, "leader, of a newer patch") {
		checks = []string{"leader"}
		leads = as("new", "1.35.9+0a1b2c-dirty", newer)
	} else if !slices.Contains(checks, "leader") {
		leads = as("old", "1.35.4", older)
	}
	if len(checks) == 0 {
		checks = window.Checks()
	}
	return window.Judge(ctx, as("old", "1.35.4", older), as("new", "1.36.3", newer), window.Options{
		Checks: checks, Settle: 2 * time.Millisecond,
		Leader: func(context.Context) (window.Server, error) {
			if leads.Name == "" {
				return leads, errors.New("no controller manager leads")
			}
			return leads, nil
		},
	})
}

// The version skew policy is about minor versions.
func TestLeaderOfANewerPatch(t *testing.T) {
	verdict := judge(t, server(t), faithful, faithful, "leader, of a newer patch")
	if len(verdict.Problems)+len(verdict.Unjudged) > 0 {
		t.Errorf("problems %q, unjudged %q", verdict.Problems, verdict.Unjudged)
	}
}

// Without a problem, the verdict lists what was checked.
func TestEvidence(t *testing.T) {
	verdict := judge(t, server(t), faithful, faithful)
	if len(verdict.Problems)+len(verdict.Unjudged) > 0 {
		t.Errorf("problems %q, unjudged %q", verdict.Problems, verdict.Unjudged)
	}
	want := []string{
		"3 objects of 3 kinds are equal through old and new",
		"7 lists with field selectors of Kubernetes' own clients are accepted by old and new",
		"1 namespaces exist; objects are in 1 namespaces",
		"0 cluster IPs, each used by one Service", "the controller manager beside old leads",
		"1 policies, webhooks and custom resource definitions would be accepted by old",
		"3 objects were written unchanged through old", "1 objects that Kubernetes maintains itself were watched for 2ms",
	}
	if !slices.Equal(verdict.Evidence, want) {
		t.Errorf("evidence\n%s\nwant\n%s", strings.Join(verdict.Evidence, "\n"), strings.Join(want, "\n"))
	}
}

// Each check reports its problem.
func TestProblems(t *testing.T) {
	for name, test := range map[string]struct {
		check string
		older through
		put   []map[string]any
		want  string
	}{
		"a field that the old one does not show": {
			check: "reads", older: showing("GET", "/configmaps", `"color":"red"`, ``),
			want: `reads: as v1, ConfigMap default/a differs, old -> new: data: absent -> {"color":"red"}`,
		},
		"an object that the old one does not show": {
			check: "reads", older: answering("GET", "/configmaps", 200, `{"kind":"ConfigMapList","apiVersion":"v1","items":[]}`),
			want: "reads: as v1, ConfigMap default/a is missing through old",
		},
		"a list that the old one rejects": {
			check: "reads", older: answering("GET", "/configmaps", 422, rejection),
			want: "reads: objects of v1 ConfigMap cannot be listed through old: 422 Invalid: no",
		},
		"a selector that the old one rejects": {
			check: "selectors", older: selecting("spec.clusterIP"),
			want: "selectors: kubelet lists services (v1) by spec.clusterIP; new accepts that, old rejects it: " +
				"400 BadRequest: no",
		},
		"an object in a deleted namespace": {
			check: "namespaces", older: faithful, put: []map[string]any{configMap("gone", "left")},
			want: "namespaces: namespace gone was deleted, but these objects in it still exist: ConfigMap gone/left",
		},
		"an address twice": {
			check: "addresses", older: faithful, put: []map[string]any{service("one"), service("two")},
			want: "addresses: Service default/one, Service default/two all have the cluster IP 10.0.0.1",
		},
		"a new leader": {
			check: "leader", older: faithful,
			want: "leader: the controller manager beside new leads, but is newer than old",
		},
		"a policy that the old one rejects": {
			check: "rules", older: answering("POST", "/validatingadmissionpolicies", 422, rejection),
			want: "rules: ValidatingAdmissionPolicy p would be rejected by old: 422 Invalid: no",
		},
		"policies that the old one does not serve": {
			check: "rules", older: showing("GET", "/v1", `"ValidatingAdmissionPolicy"`, `"Other"`),
			want: "rules: old does not enforce ValidatingAdmissionPolicy p: it does not serve the kind",
		},
		"an update that the old one rejects": {
			check: "writes", older: answering("PUT", "/configmaps/a", 422, rejection),
			want: "writes: old rejects an unchanged update of ConfigMap default/a: 422 Invalid: no",
		},
		"an update through the old one that loses a field": {
			check: "writes", older: storing(`"color":"red"`, ``),
			want: "writes: an unchanged update of ConfigMap default/a through old changed the object, as seen through new: " +
				"data: {\"color\":\"red\"} -> absent",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := server(t)
			for _, object := range test.put {
				s.Put(strings.ToLower(object["kind"].(string))+"s", object)
			}
			verdict := judge(t, s, test.older, faithful, test.check)
			if got := strings.Join(verdict.Problems, "\n"); got != test.want {
				t.Errorf("problems\n%s\nwant\n%s\nunjudged %q", got, test.want, verdict.Unjudged)
			}
		})
	}
}

// If the old server does not serve the version that the new one prefers, the next common version is checked. If there
// is none, the objects are not judged.
func TestTheOldServerLacksAVersion(t *testing.T) {
	hiding := func(version string) through {
		return showing(http.MethodGet, "/admissionregistration.k8s.io/"+version, `"list"`, `"none"`)
	}
	older := func(next http.RoundTripper, request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodPost {
			return answering(http.MethodPost, "/v1beta1/validatingadmissionpolicies", 422, rejection)(next, request)
		}
		return hiding("v1")(next, request)
	}
	for name, test := range map[string]struct {
		newer                       through
		problem, unjudged, evidence string
	}{
		"both serve v1beta1": {
			faithful, "rules: ValidatingAdmissionPolicy p would be rejected by old: 422 Invalid: no", "",
			"2 objects that Kubernetes maintains itself were watched for 2ms",
		},
		"there is no common version": {
			hiding("v1beta1"), "", "rules: ValidatingAdmissionPolicy p: old and new serve the kind in different versions",
			"1 objects that Kubernetes maintains itself were watched for 2ms",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := server(t)
			beta := policies
			beta.GVK.Version = "v1beta1"
			s.Serve(beta)
			s.Put(policies.Resource, map[string]any{
				"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
				"metadata": map[string]any{"name": "p", "labels": map[string]any{"kubernetes.io/bootstrapping": "x"}},
			})
			verdict := judge(t, s, older, test.newer, "rules", "bootstrap")
			if got := strings.Join(verdict.Problems, "\n"); got != test.problem {
				t.Errorf("problems %q, want %q", got, test.problem)
			}
			if got := strings.Join(verdict.Unjudged, "\n"); got != test.unjudged {
				t.Errorf("unjudged %q, want %q", got, test.unjudged)
			}
			if !slices.Contains(verdict.Evidence, test.evidence) {
				t.Errorf("evidence %q, want %q", verdict.Evidence, test.evidence)
			}
		})
	}
}

// An unchanged update that each server stores is a problem, even if the object reads the same. If only the first one is
// stored, an earlier version had encoded the object.
func TestAnUnchangedUpdateIsStored(t *testing.T) {
	for name, test := range map[string]struct {
		both              bool
		problem, evidence string
	}{
		"by each server": {true, "through old was stored (resource version", ""},
		"by the first":   {false, "", "ConfigMap default/a had been stored in another version or encoding than both servers use"},
	} {
		t.Run(name, func(t *testing.T) {
			s := server(t)
			stores := func(next http.RoundTripper, request *http.Request) (*http.Response, error) {
				if request.Method == http.MethodPut && strings.HasSuffix(request.URL.Path, "/configmaps/a") {
					s.Put("configmaps", s.Object("configmaps", "default", "a").Object)
					request = request.Clone(request.Context())
					request.Method, request.Body, request.ContentLength = http.MethodGet, nil, 0
				}
				return next.RoundTrip(request)
			}
			newer := through(faithful)
			if test.both {
				newer = stores
			}
			verdict := judge(t, s, stores, newer, "writes")
			if got := strings.Join(verdict.Problems, "\n"); (got == "") != (test.problem == "") || !strings.Contains(got, test.problem) {
				t.Errorf("problems %q, want %q", got, test.problem)
			}
			if got := strings.Join(verdict.Evidence, "\n"); !strings.Contains(got, test.evidence) {
				t.Errorf("evidence %q, want %q", got, test.evidence)
			}
		})
	}
}

// What both servers change in an unchanged update, as a webhook does, is not a problem.
func TestBothServersChangeAnObject(t *testing.T) {
	paints := func(to string) through {
		return func(next http.RoundTripper, request *http.Request) (*http.Response, error) {
			return storing(`"color":"`, `"color":"`+to)(next, request)
		}
	}
	verdict := judge(t, server(t), paints("dark"), paints("very"), "writes")
	if got := strings.Join(verdict.Evidence, "\n"); len(verdict.Problems) > 0 ||
		!strings.Contains(got, "both servers change ConfigMap default/a in an unchanged update: data.color") {
		t.Errorf("%+v", verdict)
	}
}

// An object that the old server shows differently is not written, so the check of writes says so.
func TestADifferentObjectIsNotWritten(t *testing.T) {
	verdict := judge(t, server(t), showing("GET", "/configmaps", `"color":"red"`, ``), faithful, "writes")
	if got := strings.Join(verdict.Unjudged, "\n"); !strings.Contains(got, "writes: as v1, ConfigMap default/a differs") {
		t.Errorf("%+v", verdict)
	}
}

// A policy that both servers would reject was accepted by an earlier version.
func TestAPolicyThatBothReject(t *testing.T) {
	rejects := answering("POST", "/validatingadmissionpolicies", 422, rejection)
	verdict := judge(t, server(t), rejects, rejects, "rules")
	if got := strings.Join(verdict.Evidence, "\n"); len(verdict.Problems) > 0 ||
		!strings.Contains(got, "both servers would reject ValidatingAdmissionPolicy p") {
		t.Errorf("%+v", verdict)
	}
}

// The old server's rejection of an update counts if the new server accepts the same update. A conflict says that
// others wrote the object. Without an answer, or without the object, it is unknown.
func TestRejectionsOfBothServers(t *testing.T) {
	status := func(code int, reason string) string {
		return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":"no","code":%d}`,
			reason, code)
	}
	const problem = "writes: old rejects an unchanged update of ConfigMap default/a: 422 Invalid: no"
	for name, test := range map[string]struct {
		code              int
		text              string
		times             int32
		problem, unjudged string
		evidence          string
	}{
		"accepted":         {0, "", 0, problem, "", ""},
		"one conflict":     {409, status(409, "Conflict"), 1, problem, "", ""},
		"always conflicts": {409, status(409, "Conflict"), 99, "", "others wrote ConfigMap default/a during each", ""},
		"no answer":        {503, status(503, "ServiceUnavailable"), 99, "", "it is unknown whether new does: ", ""},
		"deleted":          {404, status(404, "NotFound"), 99, "", "which was then deleted", ""},
		"rejected":         {422, rejection, 99, "", "", "both servers reject an unchanged update of ConfigMap default/a"},
	} {
		t.Run(name, func(t *testing.T) {
			var answered atomic.Int32
			answer := answering(http.MethodPut, "/configmaps/a", test.code, test.text)
			newer := func(next http.RoundTripper, request *http.Request) (*http.Response, error) {
				if request.Method == http.MethodPut && answered.Add(1) <= test.times {
					return answer(next, request)
				}
				return next.RoundTrip(request)
			}
			older := answering(http.MethodPut, "/configmaps/a", 422, rejection)
			verdict := judge(t, server(t), older, newer, "writes")
			if got := strings.Join(verdict.Problems, "\n"); got != test.problem {
				t.Errorf("problems %q, want %q", got, test.problem)
			}
			got := strings.Join(verdict.Unjudged, "\n")
			if (got == "") != (test.unjudged == "") || !strings.Contains(got, test.unjudged) {
				t.Errorf("unjudged %q, want %q", got, test.unjudged)
			}
			if got := strings.Join(verdict.Evidence, "\n"); !strings.Contains(got, test.evidence) {
				t.Errorf("evidence %q, want %q", got, test.evidence)
			}
		})
	}
}

// An object that is written in both halves of Settle is a problem. One that is written once is not.
func TestServersOverwriteEachOther(t *testing.T) {
	for writes, want := range map[int32]string{
		0: "", 1: "", 2: "bootstrap: Namespace default was written in both halves of 2ms, as if servers overwrite each other; " +
			"last by somebody ()",
	} {
		s := server(t)
		var lists, written atomic.Int32
		verdict := judge(t, s, faithful, func(next http.RoundTripper, request *http.Request) (*http.Response, error) {
			// The first list is compared with the old server's. The second one begins the check.
			if strings.HasSuffix(request.URL.Path, "/namespaces") && lists.Add(1) > 2 && written.Load() < writes {
				written.Add(1)
				s.Put("namespaces", s.Object("namespaces", "", "default").Object)
			}
			return next.RoundTrip(request)
		}, "bootstrap")
		if got := strings.Join(verdict.Problems, "\n"); got != want || written.Load() != writes {
			t.Errorf("%d writes: problems %q, want %q", written.Load(), got, want)
		}
	}
}

// An object that servers delete and recreate has another UID each time.
func TestServersReplaceEachOthersObjects(t *testing.T) {
	s := server(t)
	rule := configMap("kube-system", "extension-apiserver-authentication")
	s.Put("configmaps", rule)
	verdict := judge(t, s, faithful, func(next http.RoundTripper, request *http.Request) (*http.Response, error) {
		if strings.HasSuffix(request.URL.Path, "/configmaps") {
			s.Delete("configmaps", "kube-system", "extension-apiserver-authentication")
			s.Put("configmaps", rule)
		}
		return next.RoundTrip(request)
	}, "bootstrap")
	const want = "bootstrap: ConfigMap kube-system/extension-apiserver-authentication was written in both halves"
	if len(verdict.Problems) != 1 || !strings.HasPrefix(verdict.Problems[0], want) {
		t.Errorf("problems %q, want %q", verdict.Problems, want)
	}
}

// A program may write its own ConfigMap in kube-system as often as it likes.
func TestABusyConfigMap(t *testing.T) {
	s := server(t)
	s.Put("configmaps", configMap("kube-system", "status"))
	verdict := judge(t, s, faithful, func(next http.RoundTripper, request *http.Request) (*http.Response, error) {
		if strings.HasSuffix(request.URL.Path, "/namespaces") {
			s.Put("configmaps", s.Object("configmaps", "kube-system", "status").Object)
		}
		return next.RoundTrip(request)
	}, "bootstrap")
	if len(verdict.Problems) > 0 {
		t.Errorf("problems %q", verdict.Problems)
	}
}

// An object that is deleted with its namespace between two lists is not a problem.
func TestANamespaceIsDeletedMeanwhile(t *testing.T) {
	s := server(t)
	s.Put("configmaps", configMap("going", "a"))
	gone := answering("GET", "/namespaces/going/configmaps/a", 404,
		`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","message":"gone","code":404}`)
	if verdict := judge(t, s, gone, gone, "namespaces"); len(verdict.Problems)+len(verdict.Unjudged) > 0 {
		t.Errorf("%+v", verdict)
	}
}

// A check that is not possible is unjudged. It is not a problem.
func TestUnjudged(t *testing.T) {
	verdict := judge(t, server(t), faithful, faithful, "leader, without one")
	if len(verdict.Problems) > 0 || !slices.Equal(verdict.Unjudged, []string{"leader: no controller manager leads"}) {
		t.Errorf("%+v", verdict)
	}
}

// A check that needs objects that could not be compared is unjudged, also without the check "reads".
func TestObjectsThatCannotBeCompared(t *testing.T) {
	older := answering("GET", "/configmaps", 422, rejection)
	for check, want := range map[string]string{
		"writes":    "objects of v1 ConfigMap: cannot be listed through old: 422 Invalid: no",
		"bootstrap": "objects of v1 ConfigMap: cannot be listed through old: 422 Invalid: no",
		"addresses": "", "rules": "",
	} {
		verdict := judge(t, server(t), older, faithful, check)
		if got := strings.Join(verdict.Unjudged, "\n"); got != want || len(verdict.Problems) > 0 {
			t.Errorf("%s: unjudged %q, want %q; problems %q", check, got, want, verdict.Problems)
		}
	}
	verdict := judge(t, server(t), answering("GET", "/services", 422, rejection), faithful, "addresses")
	if len(verdict.Unjudged) != 1 {
		t.Errorf("addresses of unreadable Services: %+v", verdict)
	}
}

// Objects that are created between the two lists are no difference, even if one is created each time.
func TestObjectsAreCreatedMeanwhile(t *testing.T) {
	s := server(t)
	var lists atomic.Int32
	verdict := judge(t, s, faithful, func(next http.RoundTripper, request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodGet && strings.HasSuffix(request.URL.Path, "/configmaps") {
			s.Put("configmaps", configMap("default", fmt.Sprint("new-", lists.Add(1))))
		}
		return next.RoundTrip(request)
	}, "reads")
	if len(verdict.Problems)+len(verdict.Unjudged) > 0 || lists.Load() != 4 {
		t.Errorf("after %d lists: %+v", lists.Load(), verdict)
	}
}

// An object that is recreated under its name between two lists is another one.
func TestAnObjectIsRecreatedMeanwhile(t *testing.T) {
	s := server(t)
	var lists atomic.Int32
	verdict := judge(t, s, faithful, func(next http.RoundTripper, request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodGet && strings.HasSuffix(request.URL.Path, "/configmaps") {
			lists.Add(1)
			gone := request.Clone(request.Context())
			gone.Method, gone.URL.Path, gone.URL.RawQuery = http.MethodDelete, "/api/v1/namespaces/default/configmaps/a", ""
			if answer, err := next.RoundTrip(gone); err != nil || answer.StatusCode != http.StatusOK {
				t.Errorf("delete: %v, %v", answer, err)
			}
			s.Put("configmaps", configMap("default", "a"))
		}
		return next.RoundTrip(request)
	}, "reads", "writes")
	if len(verdict.Problems) > 0 || lists.Load() == 0 {
		t.Errorf("after %d lists: %+v", lists.Load(), verdict)
	}
}

// An object that is deleted between the two reads before its update is not written. Other errors leave it unjudged.
func TestObjectsThatCannotBeReadAgain(t *testing.T) {
	for code, want := range map[int]string{404: "", 500: "writes: read ConfigMap default/a through new: "} {
		reason := map[int]string{404: "NotFound", 500: "InternalError"}[code]
		newer := answering("GET", "/configmaps/a", code, fmt.Sprintf(
			`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":"no","code":%d}`, reason, code))
		verdict := judge(t, server(t), faithful, newer, "writes")
		got := strings.Join(verdict.Unjudged, "\n")
		if len(verdict.Problems) > 0 || (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%d: problems %q, unjudged %q, want %q", code, verdict.Problems, got, want)
		}
	}
}

// A difference that no later look could confirm is not a problem.
func TestADifferenceIsNotConfirmed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := server(t)
	var lists atomic.Int32
	verdict, err := judgeIn(ctx, s, faithful, func(next http.RoundTripper, request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodGet && strings.HasSuffix(request.URL.Path, "/configmaps") {
			if lists.Add(1) == 2 {
				cancel()
			}
			s.Put("configmaps", configMap("default", "new"))
		}
		return next.RoundTrip(request)
	}, "reads")
	if len(verdict.Problems) > 0 || !errors.Is(err, context.Canceled) || lists.Load() != 2 {
		t.Errorf("after %d lists: %v, %+v", lists.Load(), err, verdict)
	}
}

// An object that is written between two lists once is compared again.
func TestAnObjectIsWrittenMeanwhile(t *testing.T) {
	s := server(t)
	var lists atomic.Int32
	verdict := judge(t, s, faithful, func(next http.RoundTripper, request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodGet && strings.HasSuffix(request.URL.Path, "/configmaps") {
			name := "b" // another object is the reason for the first looks
			if lists.Add(1) == 4 {
				name = "a"
			}
			s.Put("configmaps", configMap("default", name))
		}
		return next.RoundTrip(request)
	}, "reads")
	if len(verdict.Problems)+len(verdict.Unjudged) > 0 || lists.Load() != 4 {
		t.Errorf("after %d lists: %+v", lists.Load(), verdict)
	}
}

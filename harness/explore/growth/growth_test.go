package growth_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// rule rejects an object with type, field and message of a cause. It accepts the object if they are empty.
type rule func(object map[string]any) [3]string

// server judges objects by rules, and drops a field.
func server(t *testing.T, drops string, rules ...rule) *growth.Client {
	t.Helper()
	return clientOf(t, judging(t, drops, rules...), 4)
}

func judging(t *testing.T, drops string, rules ...rule) *httptest.Server {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var object map[string]any
		if err := json.NewDecoder(r.Body).Decode(&object); err != nil || r.URL.Query().Get("dryRun") != "All" {
			t.Errorf("%s: %v", r.URL, err)
		}
		var causes []map[string]any
		for _, judge := range rules {
			if words := judge(object); words[0] != "" {
				causes = append(causes, map[string]any{"reason": words[0], "field": words[1], "message": words[2]})
			}
		}
		w.Header().Set("Content-Type", "application/json")
		answer := any(object)
		if len(causes) > 0 {
			w.WriteHeader(http.StatusUnprocessableEntity)
			answer = map[string]any{
				"kind": "Status", "status": "Failure", "code": 422, "reason": "Invalid", "message": fmt.Sprint(causes),
				"details": map[string]any{"causes": causes},
			}
		} else if drops != "" {
			fields.Remove(object, fields.ParsePlace(drops))
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(web.Close)
	return web
}

// failing is a client of a server that accepts every object that the rules allow, but answers with 500 if it fails for a request.
func failing(t *testing.T, fails func(r *http.Request, body string) bool, rules ...rule) *growth.Client {
	t.Helper()
	judge := judging(t, "", rules...)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if fails(r, string(body)) {
			http.Error(w, "no quorum", http.StatusInternalServerError)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		judge.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return clientOf(t, web, 4)
}

func clientOf(t *testing.T, web *httptest.Server, atOnce int) *growth.Client {
	t.Helper()
	found, err := discovery.NewDiscoveryClientForConfig(writes.Configure(&rest.Config{Host: web.URL}, "test"))
	golden.Must(t, err)
	return growth.NewClient(found.RESTClient(), atOnce)
}

func TestAPanicIsAnAnswer(t *testing.T) {
	for _, test := range []struct {
		words    string
		requests int64
		panicked bool
	}{
		{"This request caused apiserver to panic. Look in the logs for details.", 1, true},
		{"etcdserver: no leader", 3, false},
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, test.words, http.StatusInternalServerError)
		}))
		client := clientOf(t, web, 1)
		answer, err := client.Create(t.Context(), box(), "default", []byte("{}"), true)
		if answer.Accepted() || (err == nil) != test.panicked || client.Requests() != test.requests ||
			!strings.Contains(answer.Words, test.words) {
			t.Errorf("%s: %+v, %v, after %d requests", test.words, answer, err, client.Requests())
		}
		web.Close()
	}
}

func TestAnAbortedRequestIsAPanic(t *testing.T) {
	config, _ := apitest.Aborting(t)
	found, err := discovery.NewDiscoveryClientForConfig(writes.Configure(config, "test"))
	golden.Must(t, err)
	client := growth.NewClient(found.RESTClient(), 1)
	answer, err := client.Create(t.Context(), box(), "default", []byte("{}"), true)
	if err != nil || answer.Accepted() || !strings.Contains(answer.Words, "caused apiserver to panic") ||
		client.Requests() != 3 {
		t.Errorf("%+v, %v, after %d requests", answer, err, client.Requests())
	}
}

// A write that the API server did not judge is an error: nobody else notices it.
func TestRewrite(t *testing.T) {
	for name, test := range map[string]struct {
		read, write, writes int
		err                 string
	}{
		"written":                 {read: http.StatusOK, write: http.StatusOK, writes: 1},
		"gone":                    {read: http.StatusNotFound},
		"rejected":                {read: http.StatusOK, write: http.StatusUnprocessableEntity, writes: 1},
		"always in conflict":      {read: http.StatusOK, write: http.StatusConflict, writes: 3, err: "write Box a unchanged: 409"},
		"cannot be read":          {read: http.StatusBadGateway, err: "read Box a: "},
		"the write is not judged": {read: http.StatusOK, write: http.StatusBadGateway, writes: 3, err: "write Box a unchanged: "},
	} {
		t.Run(name, func(t *testing.T) {
			wrote := 0
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				code := test.read
				if r.Method == http.MethodPut {
					code = test.write
					wrote++
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(code)
				answer := map[string]any{"apiVersion": "v1", "kind": "Box"}
				if code != http.StatusOK {
					reason := map[int]string{
						http.StatusNotFound: "NotFound", http.StatusConflict: "Conflict", http.StatusUnprocessableEntity: "Invalid",
					}[code]
					answer = map[string]any{"kind": "Status", "status": "Failure", "code": code, "reason": reason}
					answer["details"] = map[string]any{"name": "a", "kind": "boxes"}
				}
				if err := json.NewEncoder(w).Encode(answer); err != nil {
					t.Error(err)
				}
			}))
			defer web.Close()
			err := clientOf(t, web, 1).Rewrite(t.Context(), box(), "default", "a")
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) || wrote != test.writes {
				t.Errorf("%v, after %d writes; want %q, %d", err, wrote, test.err, test.writes)
			}
		})
	}
}

// box is a kind with the given fields of its spec.
func box(children ...*fields.Field) *fields.Kind {
	k := &fields.Kind{Resource: "boxes", Namespaced: true, Preferred: true}
	k.GroupVersionKind = schema.GroupVersionKind{Version: "v1", Kind: "Box"}
	spec := &fields.Field{Path: fields.Path{"spec"}, Type: fields.Object, Children: children, Owner: "spec"}
	k.Root = &fields.Field{Type: fields.Object, Children: []*fields.Field{spec}}
	spec.Parent = k.Root
	adopt(spec)
	return k
}

func adopt(parent *fields.Field) {
	for _, child := range parent.Children {
		child.Path = append(slices.Clone(parent.Path), child.Path...)
		child.Parent, child.Owner = parent, child.Path.String()
		adopt(child)
	}
}

func field(name string, of fields.Type, children ...*fields.Field) *fields.Field {
	return &fields.Field{Path: fields.Path{name}, Type: of, Children: children}
}

func at(object map[string]any, path string) any {
	value, _ := fields.Get(object, fields.ParsePlace(path))
	return value
}

func grow(t *testing.T, client *growth.Client, kind *fields.Kind) *growth.Grown {
	t.Helper()
	grown := growAll(t, client, kind)
	if len(grown) != 1 {
		t.Fatalf("%d kinds", len(grown))
	}
	return grown[0]
}

// growAll grows a kind and its status.
func growAll(t *testing.T, client *growth.Client, kind *fields.Kind) []*growth.Grown {
	t.Helper()
	var mu sync.Mutex
	grown, err := growth.All(t.Context(), growth.Options{
		Client: client, Kinds: []*fields.Kind{kind},
		Progress: func(string, ...any) { mu.Lock(); defer mu.Unlock() },
	})
	golden.Must(t, err)
	return grown
}

func TestRejectedObjectsAreMendedByTheMessage(t *testing.T) {
	for _, test := range []struct {
		name  string
		kind  *fields.Kind
		rules []rule
		want  string
	}{
		{
			"supported values", box(field("policy", fields.String)),
			[]rule{func(o map[string]any) [3]string {
				if p := at(o, "spec.policy"); p != nil && p != "Shut" {
					return [3]string{"FieldValueNotSupported", "spec.policy", `Unsupported value: "a": supported values: "Shut"`}
				}
				return [3]string{}
			}},
			"spec.policy",
		},
		{
			"an example", box(field("title", fields.String)),
			[]rule{func(o map[string]any) [3]string {
				if p := at(o, "spec.title"); p != nil && p != "my-Title" {
					return [3]string{
						"FieldValueInvalid", "spec.title",
						`must be odd (e.g. 'my-Title', regex used for validation is 'x')`,
					}
				}
				return [3]string{}
			}},
			"spec.title",
		},
		{
			"a small number", box(field("many", fields.Integer)),
			[]rule{func(o map[string]any) [3]string {
				if p := at(o, "spec.many"); p != nil && p != 7.0 {
					return [3]string{"FieldValueInvalid", "spec.many", "must be between 7 and 8, inclusive"}
				}
				return [3]string{}
			}},
			"spec.many",
		},
		{
			"a sibling that is required", box(field("flag", fields.Boolean), field("reason", fields.String)),
			[]rule{func(o map[string]any) [3]string {
				if at(o, "spec.flag") != nil && at(o, "spec.reason") == nil {
					return [3]string{"FieldValueRequired", "spec.reason", "must be set"}
				}
				return [3]string{}
			}},
			"spec.flag",
		},
		{
			"a discriminator", box(&fields.Field{
				Path: fields.Path{"type"}, Type: fields.String,
				Enum: []string{"A", "B"},
			},
				field("port", fields.Integer)),
			[]rule{func(o map[string]any) [3]string {
				if at(o, "spec.port") != nil && at(o, "spec.type") != "B" {
					return [3]string{"FieldValueForbidden", "spec.port", "may not be used when `type` is 'A'"}
				}
				return [3]string{}
			}},
			"spec.port",
		},
		{
			"one member of a union", box(field("from", fields.Object, field("here", fields.String),
				field("there", fields.String))),
			[]rule{func(o map[string]any) [3]string {
				if from, ok := at(o, "spec.from").(map[string]any); ok && len(from) != 1 {
					return [3]string{"FieldValueRequired", "spec.from", "must specify one of `here`, `there`"}
				}
				return [3]string{}
			}},
			"spec.from.there",
		},
		{
			"a member of a union; the message names the list",
			box(field("sources", fields.List, field(fields.Item, fields.Object, field("here", fields.Object),
				field("there", fields.Object)))),
			[]rule{func(o map[string]any) [3]string {
				if from, ok := at(o, "spec.sources[0]").(map[string]any); ok && len(from) != 1 {
					return [3]string{"FieldValueInvalid", "spec.sources", "may not have more than one field specified at a time"}
				}
				return [3]string{}
			}},
			"spec.sources[].there",
		},
		{
			"an enumeration that only the documentation lists",
			box(&fields.Field{
				Path: fields.Path{"type"}, Type: fields.String,
				Description: `type is the type. It should be one of "Here" or "There".`,
			}, field("there", fields.Object)),
			[]rule{func(o map[string]any) [3]string {
				if at(o, "spec.there") != nil && at(o, "spec.type") != "There" {
					return [3]string{"FieldValueForbidden", "spec.there", "must populate the given source only"}
				}
				return [3]string{}
			}},
			"spec.there",
		},
		{
			"two fields that must be set together", box(field("port", fields.Integer), &fields.Field{
				Path: fields.Path{"type"}, Type: fields.String, Enum: []string{"A", "B"},
			}, &fields.Field{Path: fields.Path{"policy"}, Type: fields.String, Enum: []string{"C", "D"}}),
			[]rule{func(o map[string]any) [3]string {
				if at(o, "spec.port") != nil && (at(o, "spec.type") != "B" || at(o, "spec.policy") != "D") {
					return [3]string{"FieldValueInvalid", "spec.port", "may only be set when `type` is 'B' and `policy` is 'D'"}
				}
				return [3]string{}
			}},
			"spec.port",
		},
		{
			"an item whose index is missing in the message",
			box(field("mounts", fields.List, field(fields.Item, fields.Object, field("mode", fields.String)))),
			[]rule{func(o map[string]any) [3]string {
				if mode := at(o, "spec.mounts[0].mode"); mode != nil && mode != "Shut" {
					return [3]string{"FieldValueNotSupported", "spec.mounts.mode", `Unsupported value: supported values: "Shut"`}
				}
				return [3]string{}
			}},
			"spec.mounts[].mode",
		},
		{
			"a format", box(&fields.Field{Path: fields.Path{"id"}, Type: fields.String, Format: "uuid"}),
			[]rule{func(o map[string]any) [3]string {
				if id, ok := at(o, "spec.id").(string); ok && len(id) != 36 {
					return [3]string{"FieldValueInvalid", "spec.id", "must be of type uuid"}
				}
				return [3]string{}
			}},
			"spec.id",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			grown := grow(t, server(t, "", test.rules...), test.kind)
			if !slices.Contains(grown.Covered, test.want) {
				t.Errorf("no object has %s: %v", test.want, grown.Rest)
			}
			for _, s := range grown.Specimens {
				for _, judge := range test.rules {
					if words := judge(plain(t, s)); words[0] != "" {
						t.Errorf("%s: %s would be rejected: %v", s.ID(), s.Body, words)
					}
				}
			}
		})
	}
}

// plain is the decoded object.
func plain(t *testing.T, s *growth.Specimen) map[string]any {
	t.Helper()
	var object map[string]any
	golden.Must(t, json.Unmarshal(s.Body, &object))
	return object
}

func TestDroppedFieldsAreNotCovered(t *testing.T) {
	grown := grow(t, server(t, "spec.gated"), box(field("gated", fields.String), field("open", fields.String)))
	if grown.Rest["spec.gated"] != "accepted, but dropped" || !slices.Contains(grown.Covered, "spec.open") {
		t.Errorf("covered %v, rest %v", grown.Covered, grown.Rest)
	}
}

func TestRejectedBoundaryValuesAreKeptSeparately(t *testing.T) {
	grown := grow(t, server(t, "", func(o map[string]any) [3]string {
		if name, ok := at(o, "spec.title").(string); ok && (name == "" || strings.ContainsAny(name[:1], "0123456789")) {
			return [3]string{"FieldValueInvalid", "spec.title", "must begin with a letter"}
		}
		return [3]string{}
	}), box(field("title", fields.String)))
	has := func(all []*growth.Specimen, value string) bool {
		return slices.ContainsFunc(all, func(s *growth.Specimen) bool {
			return s.Role == growth.Border && s.Field == "spec.title" && s.Value == value
		})
	}
	if !has(grown.Specimens, `"a.b"`) || !has(grown.Rejected, `"1-a"`) || has(grown.Specimens, `"1-a"`) {
		t.Errorf("%d accepted, %d rejected; want \"a.b\" accepted and \"1-a\" rejected", len(grown.Specimens),
			len(grown.Rejected))
	}
}

// A value without a verdict is neither accepted nor rejected.
func TestValuesThatTheServerDoesNotJudge(t *testing.T) {
	client := failing(t, func(_ *http.Request, body string) bool {
		return strings.Contains(body, `"a_b"`) || strings.Contains(body, `"a/b"`) || strings.Contains(body, `"Shut"`)
	})
	grown := grow(t, client, box(field("title", fields.String),
		&fields.Field{Path: fields.Path{"policy"}, Type: fields.String, Enum: []string{"Open", "Shut"}}))
	const title = "spec.title: no verdict on 2 of its values, such as \"a_b\": "
	const policy = "spec.policy: no verdict on 1 of its values, such as \"Shut\": "
	if len(grown.Unjudged) != 2 || !strings.HasPrefix(grown.Unjudged[0], policy) ||
		!strings.HasPrefix(grown.Unjudged[1], title) || !strings.Contains(grown.Unjudged[0], "no quorum") {
		t.Errorf("got %q", grown.Unjudged)
	}
	for _, s := range slices.Concat(grown.Specimens, grown.Rejected) {
		if s.Value == `"a_b"` || s.Value == `"Shut"` {
			t.Errorf("%s has a verdict", s.ID())
		}
	}
}

// A kind, a field or a status without a verdict is not judged. It does not look like a rejected one.
func TestWhatTheServerDoesNotJudge(t *testing.T) {
	title := func() *fields.Kind { return box(field("title", fields.String)) }
	withStatus := title()
	withStatus.State = &fields.Field{Path: fields.Path{"status"}, Type: fields.Object, Owner: "status"}
	for _, test := range []struct {
		name  string
		kind  *fields.Kind
		fails func(r *http.Request, body string) bool
		want  string
	}{
		{
			"every object", title(), func(*http.Request, string) bool { return true },
			"no object of the kind was judged: 500 ",
		},
		{
			"a field", title(), func(_ *http.Request, body string) bool { return strings.Contains(body, "title") },
			"spec.title: no object with it was judged: 500 ",
		},
		{
			"the object whose status grows", withStatus,
			func(r *http.Request, _ string) bool { return !r.URL.Query().Has("dryRun") },
			"its fields were not explored, because it is not known whether an object can be stored: 500 ",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var all []string
			for _, grown := range growAll(t, failing(t, test.fails), test.kind) {
				all = append(all, grown.Unjudged...)
			}
			if !slices.ContainsFunc(all, func(line string) bool {
				return strings.HasPrefix(line, test.want) && strings.Contains(line, "no quorum")
			}) {
				t.Errorf("got %q, want %s", all, test.want)
			}
		})
	}
}

// An API server may answer one value with 500, and reject the others.
func TestFieldsOfWhichOneValueIsNotJudged(t *testing.T) {
	var mu sync.Mutex
	first := ""
	fails := func(_ *http.Request, body string) bool {
		mu.Lock()
		defer mu.Unlock()
		if first == "" && strings.Contains(body, "title") {
			first = body
		}
		return first != "" && body == first
	}
	client := failing(t, fails, func(o map[string]any) [3]string {
		if at(o, "spec.title") == nil {
			return [3]string{}
		}
		return [3]string{"FieldValueInvalid", "spec.title", "not found"}
	})
	grown := grow(t, client, box(field("title", fields.String)))
	if len(grown.Unjudged) != 0 || first == "" || grown.Rest["spec.title"] == "" {
		t.Errorf("not judged: %q; the rest: %q", grown.Unjudged, grown.Rest)
	}
}

// The result does not depend on the number of concurrent requests, even if one field needs another one.
func TestConcurrencyDoesNotChangeTheResult(t *testing.T) {
	ids := func(atOnce int) string {
		needs := func(o map[string]any) [3]string {
			switch {
			case at(o, "spec.d") != nil && at(o, "spec.a") != "b":
				return [3]string{"FieldValueInvalid", "spec.a", "must be 'b' where `d` is set"}
			case at(o, "spec.e.title") != nil && at(o, "spec.e.title") != "x":
				return [3]string{"FieldValueNotSupported", "spec.e.title", `supported values: "x"`}
			}
			return [3]string{}
		}
		twin := func(name string) *fields.Field { return field(name, fields.Object, field("title", fields.String)) }
		kind := box(field("a", fields.String), field("b", fields.Map, field(fields.Value, fields.Quantity)),
			field("c", fields.List, field(fields.Item, fields.Either)), field("d", fields.Boolean), twin("e"), twin("f"))
		for _, f := range kind.Root.All() {
			f.Owner = strings.Replace(f.Owner, "spec.f.", "spec.e.", 1)
		}
		grown := grow(t, clientOf(t, judging(t, "", needs), atOnce), kind)
		var all []string
		for _, s := range grown.Specimens {
			all = append(all, s.ID()+" "+string(s.Body))
		}
		return strings.Join(all, "\n")
	}
	first := ids(1)
	for _, atOnce := range []int{1, 3, 32} {
		if other := ids(atOnce); first != other {
			t.Errorf("one at a time:\n%s\n%d at a time:\n%s", first, atOnce, other)
		}
	}
}

func TestObjectsThatAffectOthersAreNotStored(t *testing.T) {
	policy, class := &fields.Kind{}, &fields.Kind{}
	policy.GroupVersionKind.Kind, class.GroupVersionKind.Kind = "ValidatingAdmissionPolicy", "PriorityClass"
	for _, test := range []struct {
		name   string
		kind   *fields.Kind
		object string
		want   bool
	}{
		{
			"rules for nothing", policy, `{"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["none.example.com"]}]}}}`,
			true,
		},
		{"rules for all", policy, `{"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["*"]}]}}}`, false},
		{"a class", class, `{"value":1}`, true},
		{"the class of all", class, `{"value":1,"globalDefault":true}`, false},
	} {
		var object map[string]any
		golden.Must(t, json.Unmarshal([]byte(test.object), &object))
		if got := growth.Harmless(test.kind, object); got != test.want {
			t.Errorf("%s: harmless: %t, want %t", test.name, got, test.want)
		}
	}
}

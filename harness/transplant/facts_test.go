package transplant

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/harness/capture"
	"github.com/rehearse-dev/rehearse/harness/storage"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// documents is data in YAML: one line for each object, which begins with its key.
type documents string

func (d documents) Each(visit func(Entry) error) error {
	for line := range strings.Lines(strings.TrimSpace(string(d))) {
		key, text, _ := strings.Cut(line, " ")
		o := &unstructured.Unstructured{}
		plain, err := yaml.YAMLToJSON([]byte(text))
		if err == nil {
			err = json.Unmarshal(plain, &o.Object) // keeps integers as integers
		}
		if err != nil {
			return err
		}
		e := Entry{
			Key:    storage.Prefix + key,
			Value:  func() ([]byte, error) { return []byte(text), nil },
			Object: func() (*unstructured.Unstructured, error) { return o, nil },
		}
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}

const api = "services/specs/default/kubernetes {metadata: {name: kubernetes, namespace: default}, spec: " +
	"{clusterIPs: [10.32.0.1]}}\n"

func TestFacts(t *testing.T) {
	for _, test := range []struct {
		name       string
		data       documents
		addresses  string
		ports      string
		homeless   string
		newestIsOf string
	}{
		{
			name: "what a ServiceCIDR says", data: api + "servicecidrs/kubernetes {spec: {cidrs: [10.32.0.0/20, 'fd00::/112']}}",
			addresses: "10.32.0.0/20,fd00::/112",
		},
		{
			name: "another ServiceCIDR says nothing", data: api + "servicecidrs/more {spec: {cidrs: [10.99.0.0/24]}}",
			addresses: "10.32.0.0/24",
		},
		{
			name: "the smallest that holds all", data: api + "services/specs/a/b {spec: {clusterIPs: [10.32.7.9]}}",
			addresses: "10.32.0.0/21",
		},
		{
			name: "dual-stack", data: api + "services/specs/a/b {spec: {clusterIPs: [10.32.0.9, 'fd00::1:7']}}\n" +
				"services/specs/a/c {spec: {clusterIPs: ['fd00::1:207']}}",
			addresses: "10.32.0.0/24,fd00::1:0/118",
		},
		{
			name: "dual-stack, IPv6 first", data: "services/specs/default/kubernetes {metadata: {name: kubernetes, namespace: " +
				"default}, spec: {clusterIPs: ['fd00::1']}}\n" +
				"services/specs/a/b {spec: {clusterIPs: ['fd00::2', 10.96.5.0]}}",
			addresses: "fd00::/120,10.96.4.0/23",
		},
		{
			name: "no such second range", data: api + "services/specs/a/b {spec: {clusterIPs: [10.32.0.9, 'fd00::7']}}\n" +
				"services/specs/a/c {spec: {clusterIPs: ['fd01::7']}}",
			addresses: "no range of addresses holds the second addresses of all dual-stack Services (such as fd00::7)",
		},
		{name: "headless", data: api + "services/specs/a/b {spec: {clusterIPs: [None]}}", addresses: "10.32.0.0/24"},
		{name: "none at all", data: "configmaps/a/b {}"},
		{
			name: "no such range", data: api + "services/specs/a/b {spec: {clusterIPs: [192.168.0.1]}}",
			addresses: "no range of addresses begins at that of Service default/kubernetes (10.32.0.1)",
		},
		{name: "usual ports", data: "services/specs/a/b {spec: {ports: [{nodePort: 30080}]}}"},
		{
			name: "other ports", data: "services/specs/a/b {spec: {ports: [{nodePort: 8080}], healthCheckNodePort: 40000}}",
			ports: "8080-40000",
		},
		{name: "pods without a node", data: "pods/a/b {spec: {nodeName: two}}\npods/a/c {spec: {nodeName: one}}\npods/a/d " +
			"{}\nminions/one {metadata: {name: one}}", homeless: "two"},
		{
			name: "the newest kubelet", data: "minions/x {metadata: {name: x}, status: {nodeInfo: {kubeletVersion: " +
				"v1.34.2-eks-1}}}\nminions/y {metadata: {name: y}, status: {nodeInfo: {kubeletVersion: v1.33.0}}}",
			newestIsOf: "1.34.2",
		},
		{
			name:       "kubeadm",
			data:       `configmaps/kube-system/kubeadm-config {data: {ClusterConfiguration: "a: b\nkubernetesVersion: v1.35.1\n"}}`,
			newestIsOf: "1.35.1",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := scan(test.data)
			golden.Must(t, err)
			got, err := f.serviceRange()
			if err != nil {
				got = err.Error()
			}
			if !strings.HasPrefix(got, test.addresses) || test.addresses == "" && got != "" {
				t.Errorf("range of addresses %q, want %q", got, test.addresses)
			}
			if got := f.nodePortRange(); got != test.ports {
				t.Errorf("range of ports %q, want %q", got, test.ports)
			}
			if got := strings.Join(f.homeless(), " "); got != test.homeless {
				t.Errorf("homeless %q, want %q", got, test.homeless)
			}
			if newest := ""; f.newest != nil || test.newestIsOf != "" {
				if f.newest != nil {
					newest, _, _ = strings.Cut(f.newest.String(), "-")
				}
				if newest != test.newestIsOf {
					t.Errorf("newest version %q, want %q", newest, test.newestIsOf)
				}
			}
		})
	}
}

// The copy lists kinds that could not be read as lacking. The garbage collector is off, because their objects may own
// others.
func TestWhatCouldNotBeRead(t *testing.T) {
	c, err := New(documents(api),
		Options{Name: "prod", Missing: []capture.Missing{{What: "deployments.apps", Why: "forbidden"}}})
	golden.Must(t, err)
	if lacks := c.Lacks(); len(lacks) != 1 || lacks[0].Kind != "deployments.apps" || !strings.Contains(lacks[0].Why,
		"forbidden") {
		t.Errorf("lacks %v", lacks)
	}
	needs, err := c.Needs()
	golden.Must(t, err)
	if off := *needs.Components["kube-controller-manager"].Flags["controllers"]; !strings.Contains(off,
		"-garbage-collector-controller") {
		t.Errorf("controllers %s", off)
	}
}

// A manifest is what kubectl applied last. If that is unknown, it is the object as a user would write it.
func TestManifest(t *testing.T) {
	for _, test := range []struct{ name, object, want string }{
		{
			"as it was applied",
			`{apiVersion: v1, kind: A, metadata: {name: a, uid: u, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":"A","metadata":{"name":"a"},"x":1}'}}, y: 2}`, `{"apiVersion":"v1","kind":"A","metadata":{"name":"a"},"x":1}`,
		},
		{
			"what was applied to another one",
			`{apiVersion: v1, kind: A, metadata: {name: b, uid: u, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}'}}}`, `last-applied`,
		},
		{
			"without what the API server put there",
			`{apiVersion: v1, kind: A, metadata: {name: a, uid: u, generation: 1, labels: {a: b}}, status: {x: 1}}`,
			`{"apiVersion":"v1","kind":"A","metadata":{"labels":{"a":"b"},"name":"a"}}`,
		},
		{
			"a Job gets a new selector",
			`{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {selector: {}, template: {metadata: {labels: {job-name: a, b: c}}}}}`, `"spec":{"template":{"metadata":{"labels":{"b":"c"}}}}`,
		},
		{
			"but for one that has its own",
			`{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {manualSelector: true, selector: {}}}`,
			`"selector":{}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := &unstructured.Unstructured{}
			golden.Must(t, yaml.Unmarshal([]byte(test.object), &o.Object))
			got, err := Manifest(o).MarshalJSON()
			if err != nil || !strings.Contains(string(got), test.want) {
				t.Errorf("got %s, %v; want %s", got, err, test.want)
			}
		})
	}
}

package simulator

import (
	"context"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// in is the context of an admission request in a namespace.
func in(namespace string) context.Context {
	return admission.NewContextWithRequest(context.Background(),
		admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Namespace: namespace}})
}

func with(variant string, faults ...string) behaviour {
	b, err := newBehaviour(variant, faults, nil)
	if err != nil {
		panic(err)
	}
	return b
}

type podOption func(*corev1.Pod)

func subdomain(name string) podOption {
	return func(p *corev1.Pod) { p.Spec.Subdomain = name }
}

func label(key, value string) podOption {
	return func(p *corev1.Pod) { p.Labels[key] = value }
}

func annotation(key, value string) podOption {
	return func(p *corev1.Pod) { p.Annotations[key] = value }
}

func env(name, value string) podOption {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env, corev1.EnvVar{Name: name, Value: value})
	}
}

func tpu(p *corev1.Pod) {
	p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{resourceTPU: resource.MustParse("4")}
}

func newPod(name string, options ...podOption) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{api.LabelName: "my-lws"},
			Annotations: map[string]string{api.AnnotationSize: "3"},
		},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "init"}},
			Containers:     []corev1.Container{{Name: "main"}},
		},
	}
	for _, option := range options {
		option(pod)
	}
	return pod
}

// text describes the webhook's decision about a pod: its group and worker index, its subdomain and the variables of its
// first container.
func text(pod *corev1.Pod) string {
	words := []string{
		pod.Labels[api.LabelGroupIndex] + "/" + pod.Labels[api.LabelWorkerIndex],
		"subdomain=" + pod.Spec.Subdomain,
	}
	for _, e := range pod.Spec.Containers[0].Env {
		words = append(words, e.Name+"="+e.Value)
	}
	return strings.Join(words, " ")
}

func TestPodDefaults(t *testing.T) {
	leader, unique := label(api.LabelWorkerIndex, "0"), label(api.KeySubdomainPolicy, "UniquePerReplica")
	vars := func(subdomain, worker string) string {
		return "subdomain=" + subdomain + " LWS_LEADER_ADDRESS=my-lws-1." + subdomain +
			".ns1 LWS_GROUP_SIZE=3 LWS_WORKER_INDEX=" + worker
	}
	tpus := func(id string, hosts ...string) string {
		return " TPU_WORKER_HOSTNAMES=" + strings.Join(hosts, ",") + " TPU_PROCESS_ADDRESSES=" + strings.Join(hosts,
			":8476,") + ":8476 TPU_WORKER_ID=" + id + " TPU_NAME=my-lws-1"
	}
	withTPUs := annotation(api.AnnotationLeaderRequestsTPUs, "true")
	tests := map[string]struct {
		variant string
		pod     *corev1.Pod
		want    string
	}{
		"shared leader": {"", newPod("my-lws-1", leader, subdomain("my-lws")), "1/0 " + vars("my-lws", "0")},
		"shared leader, written out": {"", newPod("my-lws-1", leader, subdomain("my-lws"),
			label(api.KeySubdomainPolicy, "Shared")), "1/0 " + vars("my-lws", "0")},
		"unique leader": {
			"", newPod("my-lws-1", leader, unique, subdomain("my-lws")),
			"1/0 " + vars("my-lws-1", "0"),
		},
		"annotation is no label": {"", newPod("my-lws-1", leader, subdomain("my-lws"),
			annotation(api.KeySubdomainPolicy, "UniquePerReplica")), "1/0 " + vars("my-lws", "0")},
		"annotation where it counts": {VariantAnnotation, newPod("my-lws-1", leader, subdomain("my-lws"),
			annotation(api.KeySubdomainPolicy, "UniquePerReplica")), "1/0 " + vars("my-lws-1", "0")},
		"label where it does not": {
			VariantAnnotation, newPod("my-lws-1", leader, subdomain("my-lws"), unique),
			"1/0 " + vars("my-lws", "0"),
		},
		"shared worker":               {"", newPod("my-lws-1-2", subdomain("my-lws")), "1/2 " + vars("my-lws", "2")},
		"unique worker":               {"", newPod("my-lws-1-2", subdomain("my-lws-1")), "1/2 " + vars("my-lws-1", "2")},
		"a worker is not overwritten": {"", newPod("my-lws-1-2", unique, subdomain("my-lws")), "1/2 " + vars("my-lws", "2")},
		"user's variables": {"", newPod("my-lws-1", leader, subdomain("my-lws"),
			env("A", "$(LWS_LEADER_ADDRESS)"), env("LWS_LEADER_ADDRESS", "mine")), "1/0 " + vars("my-lws", "0") +
			" A=$(LWS_LEADER_ADDRESS)"},
		"shared TPU leader": {
			"", newPod("my-lws-1", leader, subdomain("my-lws"), tpu),
			"1/0 " + vars("my-lws", "0") + tpus("0", "my-lws-1.my-lws", "my-lws-1-1.my-lws", "my-lws-1-2.my-lws"),
		},
		"unique TPU leader": {
			"", newPod("my-lws-1", leader, unique, subdomain("my-lws"), tpu),
			"1/0 " + vars("my-lws-1", "0") + tpus("0", "my-lws-1.my-lws-1", "my-lws-1-1.my-lws-1", "my-lws-1-2.my-lws-1"),
		},
		"unique TPU worker": {
			"", newPod("my-lws-1-2", subdomain("my-lws-1"), withTPUs, tpu),
			"1/2 " + vars("my-lws-1", "2") + tpus("2", "my-lws-1.my-lws-1", "my-lws-1-1.my-lws-1", "my-lws-1-2.my-lws-1"),
		},
		"TPU worker of another leader": {
			"", newPod("my-lws-1-2", subdomain("my-lws-1"), tpu),
			"1/2 " + vars("my-lws-1", "2") + tpus("1", "my-lws-1-1.my-lws-1", "my-lws-1-2.my-lws-1"),
		},
		"TPUs that know already": {
			"", newPod("my-lws-1-2", subdomain("my-lws-1"), tpu, env("TPU_WORKER_ID", "7")),
			"1/2 " + vars("my-lws-1", "2") + " TPU_WORKER_ID=7",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			golden.Must(t, (&podDefaulter{behaviour: with(test.variant)}).Default(in("ns1"), test.pod))
			if got := text(test.pod); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if len(test.pod.Spec.InitContainers[0].Env) != 3 {
				t.Errorf("the init container has %v", test.pod.Spec.InitContainers[0].Env)
			}
		})
	}
}

func TestPodsThatNoStatefulSetMade(t *testing.T) {
	for _, pod := range []*corev1.Pod{
		newPod("stray", label(api.LabelWorkerIndex, "0")),
		newPod("stray-01", label(api.LabelWorkerIndex, "0")),
		newPod("stray-1"),
		newPod("stray-1-1", annotation(api.AnnotationSize, "few")),
	} {
		if err := (&podDefaulter{behaviour: with("")}).Default(in("ns1"), pod); err == nil {
			t.Errorf("pod %s was accepted as %s", pod.Name, text(pod))
		}
	}
}

// Each fault of the pod webhook changes the result for one of these pods.
func TestPodFaults(t *testing.T) {
	pods := func() []*corev1.Pod {
		leader, unique := label(api.LabelWorkerIndex, "0"), label(api.KeySubdomainPolicy, "UniquePerReplica")
		return []*corev1.Pod{
			newPod("my-lws-1", leader, subdomain("my-lws"), tpu), newPod("my-lws-1-2", subdomain("my-lws"), tpu),
			newPod("my-lws-1", leader, unique, subdomain("my-lws"), tpu), newPod("my-lws-1-2", subdomain("my-lws-1"), tpu),
		}
	}
	outcome := func(b behaviour) (all []string) {
		for _, pod := range pods() {
			golden.Must(t, (&podDefaulter{behaviour: b}).Default(in("ns1"), pod))
			all = append(all, text(pod))
		}
		return all
	}
	right := outcome(with(""))
	for fault, wrong := range map[string][]bool{
		faultWorkersOwnSubdomain:     {false, false, false, true},
		faultSubdomainNotOverwritten: {false, false, true, false},
		faultOverwritesAlways:        {true, false, false, false},
		faultAddressOfItself:         {false, true, false, true},
		faultAddressInSharedDomain:   {false, false, true, true},
		faultAddressWithoutNamespace: {true, true, true, true},
		faultTPUMissesLast:           {true, true, true, true},
		faultTPUInSharedDomain:       {false, false, true, true},
		faultTPULeaderAlways:         {false, true, false, true},
		faultVariablesFirst:          {false, false, true, false},
	} {
		for i, got := range outcome(with("", fault)) {
			if (got != right[i]) != wrong[i] {
				t.Errorf("fault %s, pod %d: %s\nwithout it: %s", fault, i, got, right[i])
			}
		}
	}
}

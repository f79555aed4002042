package simulator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

const (
	shared = api.SubdomainShared
	unique = api.SubdomainUniquePerReplica
)

// TestSimulator tests the simulator on a real control plane, which all subtests share.
func TestSimulator(t *testing.T) {
	b := newBench(t)
	stop := b.simulate(t)
	// The garbage collector looks for new kinds when it starts, and every 30 s.
	if err := b.cluster.Restart(t.Context(), clusters.ControllerManager); err != nil {
		t.Fatal(err)
	}
	t.Run("group", func(t *testing.T) {
		for name, part := range map[string]func(*testing.T, *bench){
			"API": testAPI, "shared": testShared, "unique": testUnique, "transitions": testTransitions,
			"leader-deletion": testLeaderDeletion,
			"recreation":      testRecreation, "surge": testSurge, "partition": testPartition, "second-change": testSecondChange,
			"deletion": testDeletion, "occupied": testOccupied,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				part(t, b)
			})
		}
	})
	t.Run("restarts", func(t *testing.T) { testRestarts(t, b, stop) })
}

type setOption func(*api.LeaderWorkerSet)

func surge(n int32) setOption {
	return func(set *api.LeaderWorkerSet) {
		set.Spec.RolloutStrategy = api.RolloutStrategy{
			Type: api.RollingUpdate,
			RollingUpdateConfiguration: &api.RollingUpdateConfiguration{
				MaxUnavailable: intstr.FromInt32(1),
				MaxSurge:       intstr.FromInt32(n),
			},
		}
	}
}

func partition(n int32) setOption {
	return func(set *api.LeaderWorkerSet) {
		set.Spec.RolloutStrategy.RollingUpdateConfiguration.Partition = &n
	}
}

func oneTPU() *resource.Quantity {
	q := resource.MustParse("1")
	return &q
}

func tpus(set *api.LeaderWorkerSet) {
	set.Spec.LeaderWorkerTemplate.WorkerTemplate = podTemplate(true)
}

// create creates a LeaderWorkerSet and waits until it is available.
func (b *bench) create(t *testing.T, j *journal, namespace, name string, replicas, size int32,
	policy api.SubdomainPolicy, options ...setOption,
) world {
	t.Helper()
	set := &api.LeaderWorkerSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: api.LeaderWorkerSetSpec{
			Replicas:             &replicas,
			LeaderWorkerTemplate: api.LeaderWorkerTemplate{WorkerTemplate: podTemplate(false), Size: &size},
			NetworkConfig:        &api.NetworkConfig{SubdomainPolicy: &policy},
		},
	}
	surge(0)(set)
	for _, option := range options {
		option(set)
	}
	if err := b.client.Create(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	return j.await(t, name+" to be available", func(w world) bool { return w.available(name) })
}

// patch merges a change into a LeaderWorkerSet, and waits until the journal has it.
func (b *bench) patch(t *testing.T, j *journal, namespace, name, merge string) {
	t.Helper()
	set := &api.LeaderWorkerSet{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	if err := b.client.Patch(t.Context(), set, client.RawPatch(types.MergePatchType, []byte(merge))); err != nil {
		t.Fatal(err)
	}
	j.await(t, "the patch of "+name, func(w world) bool { return w.lws[name].Generation >= set.Generation })
}

func policyPatch(policy api.SubdomainPolicy) string {
	return fmt.Sprintf(`{"spec":{"networkConfig":{"subdomainPolicy":%q}}}`, policy)
}

func (b *bench) scale(t *testing.T, namespace, name string, replicas int32) error {
	t.Helper()
	set := &api.LeaderWorkerSet{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	return b.client.SubResource("scale").Update(t.Context(), set, client.WithSubResourceBody(&autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas},
	}))
}

func testAPI(t *testing.T, b *bench) {
	ns := b.namespace(t)
	j := b.follow(t, ns)
	make := func(name, networkConfig string) (*unstructured.Unstructured, error) {
		set := &unstructured.Unstructured{}
		text := `{"apiVersion":"leaderworkerset.x-k8s.io/v1","kind":"LeaderWorkerSet","metadata":{"name":"` + name + `"},
			"spec":{"replicas":0,` + networkConfig + `"leaderWorkerTemplate":{"workerTemplate":{"spec":{"containers":[{"name":"c","image":"i"}]}}}}}`
		if err := json.Unmarshal([]byte(text), &set.Object); err != nil {
			t.Fatal(err)
		}
		set.SetNamespace(ns)
		return set, b.client.Create(t.Context(), set)
	}
	policy := func(set *unstructured.Unstructured) string {
		config, _, _ := unstructured.NestedMap(set.Object, "spec", "networkConfig")
		return fmt.Sprint(config)
	}
	for name, test := range map[string]struct{ given, want string }{
		"absent":     {``, "map[subdomainPolicy:Shared]"},
		"null":       {`"networkConfig":null,`, "map[subdomainPolicy:Shared]"},
		"empty":      {`"networkConfig":{},`, "map[subdomainPolicy:Shared]"},
		"policynull": {`"networkConfig":{"subdomainPolicy":null},`, "map[subdomainPolicy:Shared]"},
		"shared":     {`"networkConfig":{"subdomainPolicy":"Shared"},`, "map[subdomainPolicy:Shared]"},
		"unique":     {`"networkConfig":{"subdomainPolicy":"UniquePerReplica"},`, "map[subdomainPolicy:UniquePerReplica]"},
		"unknown": {
			`"networkConfig":{"subdomainPolicy":"UniquePerReplica","x":1},`,
			"map[subdomainPolicy:UniquePerReplica]",
		},
	} {
		if set, err := make(name, test.given); err != nil || policy(set) != test.want {
			t.Errorf("%s: stored %s, %v; want %s", name, policy(set), err, test.want)
		}
	}
	for _, value := range []string{"Foo", "", "shared", "LeadersSharedWorkersDedicated"} {
		_, err := make("bad", fmt.Sprintf(`"networkConfig":{"subdomainPolicy":%q},`, value))
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), `supported values: "Shared", "UniquePerReplica"`) {
			t.Errorf("policy %q: %v", value, err)
		}
	}
	for _, change := range []struct{ merge, want string }{
		{policyPatch(unique), "UniquePerReplica"},
		{`{"spec":{"networkConfig":{"subdomainPolicy":null}}}`, "Shared"},
		{policyPatch(unique), "UniquePerReplica"},
		{`{"spec":{"networkConfig":null}}`, "Shared"},
	} {
		b.patch(t, j, ns, "absent", change.merge)
		var set api.LeaderWorkerSet
		if err := b.client.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "absent"}, &set); err != nil ||
			string(set.SubdomainPolicy()) != change.want || set.Spec.NetworkConfig == nil {
			t.Errorf("after %s: %+v, %v", change.merge, set.Spec.NetworkConfig, err)
		}
	}
	if _, err := make(strings.Repeat("a", 63), ""); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(),
		"no more than 52 characters") {
		t.Errorf("a name of 63 characters: %v", err)
	}
	// The longest name works, and the scale subresource cannot make it too long.
	long := strings.Repeat("a", 50)
	b.create(t, j, ns, long, 1, 2, unique)
	if err := b.scale(t, ns, long, 11); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(),
		"no more than 49 characters") {
		t.Errorf("scaled to a length of name that does not work: %v", err)
	}
}

func testShared(t *testing.T, b *bench) {
	ns := b.namespace(t)
	j := b.follow(t, ns)
	before := b.create(t, j, ns, "my-lws", 2, 2, shared, tpus)
	// Writing the current policy again starts nothing.
	b.patch(t, j, ns, "my-lws", policyPatch(shared))
	b.patch(t, j, ns, "my-lws", `{"spec":{"networkConfig":null}}`)
	if err := b.scale(t, ns, "my-lws", 3); err != nil {
		t.Fatal(err)
	}
	w := j.await(t, "three replicas", func(w world) bool { return w.available("my-lws") && len(w.pods) == 6 })
	j.replay(0, func(w world, c change) {
		if names := w.serviceNames(); names != "my-lws" && len(w.sets) > 0 {
			t.Errorf("Services at %d: %q", c.version, names)
		}
	})
	for name, pod := range before.pods {
		if w.pods[name].UID != pod.UID {
			t.Errorf("pod %s was replaced", name)
		}
	}
	service := w.services["my-lws"]
	if service.Spec.ClusterIP != "None" || !service.Spec.PublishNotReadyAddresses ||
		fmt.Sprint(service.Spec.Selector) != "map["+api.LabelName+":my-lws]" {
		t.Errorf("the shared Service is %+v", service.Spec)
	}
	for i := range 3 {
		checkGroup(t, w, "my-lws", i, 2, "my-lws")
	}
}

// checkGroup checks everything in a group that depends on its subdomain.
func checkGroup(t *testing.T, w world, name string, index, size int, subdomain string) {
	t.Helper()
	leader := fmt.Sprintf("%s-%d", name, index)
	hosts := []string{leader + "." + subdomain}
	pods := []string{leader}
	for i := 1; i < size; i++ {
		pods = append(pods, fmt.Sprintf("%s-%d", leader, i))
		hosts = append(hosts, pods[i]+"."+subdomain)
	}
	for i, podName := range pods {
		pod := w.pods[podName]
		if pod == nil {
			t.Errorf("no pod %s", podName)
			continue
		}
		if got := pod.Spec.Hostname + "." + pod.Spec.Subdomain; got != hosts[i] {
			t.Errorf("pod %s has the host name %s, want %s", podName, got, hosts[i])
		}
		want := map[string]string{
			"LWS_LEADER_ADDRESS": hosts[0] + "." + pod.Namespace,
			"LWS_GROUP_SIZE":     fmt.Sprint(size),
			"LWS_WORKER_INDEX":   fmt.Sprint(i),
		}
		if len(pod.Spec.Containers[0].Resources.Limits) > 0 {
			want["TPU_WORKER_HOSTNAMES"], want["TPU_WORKER_ID"] = strings.Join(hosts, ","), fmt.Sprint(i)
		}
		for variable, value := range want {
			if got := variableOf(pod, variable); got != value {
				t.Errorf("pod %s has %s=%s, want %s", podName, variable, got, value)
			}
		}
		if got, want := pod.Labels[api.LabelGroupIndex]+"/"+pod.Labels[api.LabelWorkerIndex], fmt.Sprintf("%d/%d", index,
			i); got != want {
			t.Errorf("pod %s is %s, want %s", podName, got, want)
		}
	}
	if set := w.sets[name]; set == nil || set.Spec.ServiceName != name {
		t.Errorf("the leaders' StatefulSet is %+v", set)
	}
	if set := w.sets[leader]; size > 1 && (set == nil || set.Spec.ServiceName != subdomain) {
		t.Errorf("the workers' StatefulSet of group %d is %+v", index, set)
	}
}

func variableOf(pod *corev1.Pod, name string) string {
	for _, e := range pod.Spec.Containers[0].Env {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}

func testUnique(t *testing.T, b *bench) {
	ns := b.namespace(t)
	j := b.follow(t, ns)
	b.create(t, j, ns, "my-lws", 2, 3, unique, tpus)
	b.create(t, j, ns, "other", 1, 1, unique)
	w := j.await(t, "the Services", func(w world) bool { return w.serviceNames() == "my-lws-0,my-lws-1,other-0" })
	for _, step := range []struct {
		replicas int32
		want     string
	}{{3, "my-lws-0,my-lws-1,my-lws-2,other-0"}, {1, "my-lws-0,other-0"}} {
		if err := b.scale(t, ns, "my-lws", step.replicas); err != nil {
			t.Fatal(err)
		}
		w = j.await(t, step.want, func(w world) bool {
			return w.available("my-lws") && w.serviceNames() == step.want && len(w.pods) == int(step.replicas)*3+1
		})
	}
	checkGroup(t, w, "my-lws", 0, 3, "my-lws-0")
	checkGroup(t, w, "other", 0, 1, "other-0")
	j.replay(0, func(w world, c change) {
		if service, ok := c.object.(*corev1.Service); ok && !c.deleted {
			checkReplicaService(t, w, service)
		}
	})
}

// A user's object with a required name is not changed, but reported; the rollout continues once it is deleted.
func testOccupied(t *testing.T, b *bench) {
	ns := b.namespace(t)
	j := b.follow(t, ns)
	for _, name := range []string{"my-lws", "other-0"} {
		taken := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns},
			Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
		}
		if err := b.client.Create(t.Context(), taken); err != nil {
			t.Fatal(err)
		}
	}
	for name, policy := range map[string]api.SubdomainPolicy{"my-lws": shared, "other": unique} {
		set := &api.LeaderWorkerSet{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns}}
		set.Spec.LeaderWorkerTemplate.WorkerTemplate = podTemplate(false)
		set.Spec.NetworkConfig = &api.NetworkConfig{SubdomainPolicy: &policy}
		surge(0)(set)
		if err := b.client.Create(t.Context(), set); err != nil {
			t.Fatal(err)
		}
	}
	poll(t, "both to be said", func(ctx context.Context) bool {
		var events corev1.EventList
		said := map[string]bool{}
		if err := b.client.List(ctx, &events, client.InNamespace(ns)); err != nil {
			return false
		}
		for _, event := range events.Items {
			if event.Reason == "NameTaken" {
				said[event.InvolvedObject.Kind+"/"+event.InvolvedObject.Name] = true
			}
		}
		return said["LeaderWorkerSet/my-lws"] && said["Pod/other-0"]
	})
	for _, name := range []string{"my-lws", "other-0"} {
		if err := b.client.Delete(t.Context(),
			&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns}}); err != nil {
			t.Fatal(err)
		}
	}
	j.await(t, "both Services", func(w world) bool {
		return w.available("my-lws") && w.available("other") && w.services["my-lws"] != nil && w.services["other-0"] != nil &&
			metav1.IsControlledBy(w.services["my-lws"], w.lws["my-lws"]) && metav1.IsControlledBy(w.services["other-0"],
			w.pods["other-0"])
	})
}

// checkReplicaService checks a new Service of a replica: its owner is the leader, and it selects the group.
func checkReplicaService(t *testing.T, w world, service *corev1.Service) {
	t.Helper()
	leader, owner := w.pods[service.Name], metav1.GetControllerOf(service)
	if leader == nil || owner == nil || owner.Kind != "Pod" || owner.UID != leader.UID ||
		leader.Labels[api.LabelWorkerIndex] != "0" {
		t.Errorf("Service %s is owned by %v", service.Name, owner)
		return
	}
	want := map[string]string{
		api.LabelName:       leader.Labels[api.LabelName],
		api.LabelGroupIndex: leader.Labels[api.LabelGroupIndex],
	}
	if fmt.Sprint(service.Spec.Selector) != fmt.Sprint(want) || service.Spec.ClusterIP != "None" {
		t.Errorf("Service %s is %+v", service.Name, service.Spec)
	}
}

// checkAgreement checks that all pods of a group and a revision have the same subdomain and leader address.
func checkAgreement(t *testing.T, w world, c change) {
	t.Helper()
	pod, ok := c.object.(*corev1.Pod)
	if !ok || c.deleted {
		return
	}
	for _, other := range w.pods {
		if other.Labels[api.LabelGroupKey] == pod.Labels[api.LabelGroupKey] &&
			other.Labels[api.LabelRevision] == pod.Labels[api.LabelRevision] &&
			(other.Spec.Subdomain != pod.Spec.Subdomain || variableOf(other, "LWS_LEADER_ADDRESS") != variableOf(pod,
				"LWS_LEADER_ADDRESS")) {
			t.Errorf("at %d pods %s and %s of one group are in %s and %s", c.version, pod.Name, other.Name, pod.Spec.Subdomain,
				other.Spec.Subdomain)
		}
	}
}

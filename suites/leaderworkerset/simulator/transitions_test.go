package simulator_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

func testTransitions(t *testing.T, b *bench) {
	ns := b.namespace(t)
	j := b.follow(t, ns)
	b.create(t, j, ns, "my-lws", 3, 2, shared, tpus)

	for range 2 { // to UniquePerReplica and back, twice
		w := j.await(t, "the shared Service", func(w world) bool { return w.services["my-lws"] != nil })
		since, before := j.mark(), w.services["my-lws"].UID
		b.patch(t, j, ns, "my-lws", policyPatch(unique))
		w = j.await(t, "every replica to have its Service", func(w world) bool {
			return w.available("my-lws") && w.serviceNames() == "my-lws,my-lws-0,my-lws-1,my-lws-2"
		})
		checkAll(t, w, "UniquePerReplica")
		j.replay(since, func(w world, c change) {
			checkAgreement(t, w, c)
			if service := w.services["my-lws"]; service == nil || service.UID != before {
				t.Errorf("at %d the shared Service is %v", c.version, service)
			}
			checkServicesFollow(t, w, c)
		})

		since = j.mark()
		b.patch(t, j, ns, "my-lws", policyPatch(shared))
		w = j.await(t, "one Service", func(w world) bool { return w.available("my-lws") && w.serviceNames() == "my-lws" })
		checkAll(t, w, "Shared")
		j.replay(since, func(w world, c change) {
			checkAgreement(t, w, c)
			checkServicesFollow(t, w, c)
		})
	}

	// The shared Service is created before the first replica is deleted.
	b.patch(t, j, ns, "my-lws", policyPatch(unique))
	j.await(t, "every replica to have its Service", func(w world) bool {
		return w.available("my-lws") &&
			len(w.services) == 4
	})
	if err := b.client.Delete(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Name:      "my-lws",
		Namespace: ns,
	}}); err != nil {
		t.Fatal(err)
	}
	j.await(t, "the shared Service to go", func(w world) bool { return w.services["my-lws"] == nil })
	since := j.mark()
	b.patch(t, j, ns, "my-lws", policyPatch(shared))
	j.await(t, "one Service", func(w world) bool { return w.available("my-lws") && w.serviceNames() == "my-lws" })
	j.replay(since, func(w world, c change) {
		if pod, ok := c.object.(*corev1.Pod); ok && w.services["my-lws"] == nil {
			t.Errorf("at %d pod %s changed before there was a shared Service", c.version, pod.Name)
		}
	})
}

func checkAll(t *testing.T, w world, policy string) {
	t.Helper()
	for i := range 3 {
		subdomain := "my-lws"
		if policy == "UniquePerReplica" {
			subdomain = fmt.Sprintf("my-lws-%d", i)
		}
		checkGroup(t, w, "my-lws", i, 2, subdomain)
	}
}

// checkServicesFollow checks the replicas' Services: none is created for a leader that does not need one, and none is
// deleted before its leader.
func checkServicesFollow(t *testing.T, w world, c change) {
	t.Helper()
	service, ok := c.object.(*corev1.Service)
	if !ok || service.Name == "my-lws" {
		return
	}
	leader := w.pods[service.Name]
	if !c.deleted {
		checkReplicaService(t, w, service)
		if leader != nil && leader.Spec.Subdomain != service.Name {
			t.Errorf("at %d Service %s was made for a leader in %s", c.version, service.Name, leader.Spec.Subdomain)
		}
		return
	}
	if leader != nil && leader.DeletionTimestamp == nil && metav1.IsControlledBy(service, leader) {
		t.Errorf("at %d Service %s went before its leader", c.version, service.Name)
	}
}

func testLeaderDeletion(t *testing.T, b *bench) {
	ns := b.namespace(t)
	j := b.follow(t, ns)
	b.create(t, j, ns, "my-lws", 1, 2, unique)
	hold := func(object client.Object, finalizers string) {
		t.Helper()
		if err := b.client.Patch(t.Context(), object, client.RawPatch(types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":`+finalizers+`}}`))); err != nil {
			t.Fatal(err)
		}
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "my-lws-0", Namespace: ns}}
	leader := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "my-lws-0", Namespace: ns}}
	w := j.await(t, "the Service", func(w world) bool { return w.services["my-lws-0"] != nil })

	// The old leader's Service still exists when the new leader is ready; it must not count as the new leader's.
	hold(service, `["rehearse.dev/hold"]`)
	first := w.pods["my-lws-0"].UID
	if err := b.client.Delete(t.Context(), leader.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	j.await(t, "a new group", func(w world) bool {
		return w.available("my-lws") && w.pods["my-lws-0"] != nil && w.pods["my-lws-0"].UID != first &&
			w.services["my-lws-0"].DeletionTimestamp != nil
	})
	hold(service, `null`)
	w = j.await(t, "a Service of the new leader", func(w world) bool {
		return w.services["my-lws-0"] != nil && metav1.IsControlledBy(w.services["my-lws-0"], w.pods["my-lws-0"])
	})

	// A leader that is being deleted gets no new Service.
	hold(leader.DeepCopy(), `["rehearse.dev/hold"]`)
	second, since := w.pods["my-lws-0"].UID, j.mark()
	if err := b.client.Delete(t.Context(), leader.DeepCopy(),
		client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		t.Fatal(err)
	}
	j.await(t, "all but the leader to go", func(w world) bool {
		return len(w.services) == 0 && len(w.pods) == 1 &&
			w.sets["my-lws-0"] == nil
	})
	hold(leader.DeepCopy(), `null`)
	w = j.await(t, "another group", func(w world) bool {
		return w.available("my-lws") && w.pods["my-lws-0"] != nil && w.pods["my-lws-0"].UID != second && len(w.services) == 1
	})
	j.replay(since, func(w world, c change) {
		if service, ok := c.object.(*corev1.Service); ok && !c.deleted && service.DeletionTimestamp == nil {
			checkReplicaService(t, w, service)
			if leader := w.pods[service.Name]; leader != nil && leader.UID == second {
				t.Errorf("at %d Service %s was made for a leader that was going", c.version, service.Name)
			}
		}
	})
	// A Service that is deleted by hand is created again.
	if err := b.client.Delete(t.Context(), service.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	gone := w.services["my-lws-0"].UID
	j.await(t, "the Service again", func(w world) bool {
		return w.services["my-lws-0"] != nil &&
			w.services["my-lws-0"].UID != gone
	})
}

func testRecreation(t *testing.T, b *bench) {
	ns := b.namespace(t)
	j := b.follow(t, ns)
	b.create(t, j, ns, "my-lws", 2, 2, unique)
	recreated := func(what string) {
		t.Helper()
		before := j.await(t, "the group", func(w world) bool {
			return w.services["my-lws-0"] != nil && w.pods["my-lws-0-1"] != nil && w.available("my-lws")
		})
		switch what {
		case "restart of the leader":
			restart(t, b, before.pods["my-lws-0"])
		case "restart of a worker":
			restart(t, b, before.pods["my-lws-0-1"])
		case "deletion of a worker":
			if err := b.client.Delete(t.Context(), before.pods["my-lws-0-1"].DeepCopy()); err != nil {
				t.Fatal(err)
			}
		}
		after := j.await(t, "a new group after the "+what, func(w world) bool {
			for _, name := range []string{"my-lws-0", "my-lws-0-1"} {
				if w.pods[name] == nil || w.pods[name].UID == before.pods[name].UID {
					return false
				}
			}
			return w.services["my-lws-0"] != nil && w.services["my-lws-0"].UID != before.services["my-lws-0"].UID &&
				w.available("my-lws")
		})
		if after.pods["my-lws-1"].UID != before.pods["my-lws-1"].UID {
			t.Errorf("the other group was replaced by the %s", what)
		}
	}
	recreated("restart of the leader")
	recreated("restart of a worker")
	recreated("deletion of a worker")
}

// restart reports a restarted container, as a kubelet does.
func restart(t *testing.T, b *bench, pod *corev1.Pod) {
	t.Helper()
	restarted := pod.DeepCopy()
	restarted.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "main", Image: "image", RestartCount: 1,
		Ready: true,
	}}
	if err := b.client.Status().Patch(t.Context(), restarted, client.StrategicMergeFrom(pod)); err != nil {
		t.Fatal(err)
	}
}

func testSurge(t *testing.T, b *bench) {
	ns := b.namespace(t)
	j := b.follow(t, ns)
	b.create(t, j, ns, "my-lws", 4, 2, unique, surge(4))
	since := j.mark()
	b.patch(t, j, ns, "my-lws",
		`{"spec":{"leaderWorkerTemplate":{"workerTemplate":{"metadata":{"labels":{"app":"new"}}}}}}`)
	j.await(t, "the new template", func(w world) bool {
		set := w.lws["my-lws"]
		return w.available("my-lws") && set.Status.UpdatedReplicas == 4 && len(w.pods) == 8 && len(w.services) == 4
	})
	leaders, services, fewest := 0, 0, 4
	j.replay(since, func(w world, _ change) {
		now, ready := 0, 0
		for _, pod := range w.pods {
			if pod.Labels[api.LabelWorkerIndex] != "0" {
				continue
			}
			now++
			for _, condition := range pod.Status.Conditions {
				if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil {
					ready++
				}
			}
		}
		leaders, services, fewest = max(leaders, now), max(services, len(w.services)), min(fewest, ready)
	})
	if leaders != 7 || services != 7 || fewest < 3 {
		t.Errorf("at most %d leaders and %d Services, want 7; at least %d leaders ready, want 3", leaders, services, fewest)
	}
}

func testPartition(t *testing.T, b *bench) {
	ns := b.namespace(t)
	j := b.follow(t, ns)
	w := b.create(t, j, ns, "my-lws", 3, 2, unique, partition(1))
	since := j.mark()
	old := w.pods["my-lws-0"].UID
	b.patch(t, j, ns, "my-lws", policyPatch(shared))
	w = j.await(t, "two groups to be updated", func(w world) bool {
		return w.available("my-lws") && w.serviceNames() == "my-lws,my-lws-0" && w.lws["my-lws"].Status.UpdatedReplicas == 2
	})
	if w.pods["my-lws-0"].UID != old {
		t.Error("the group below the partition was replaced")
	}
	// A group of the old revision is recreated unchanged, with its worker and its Service.
	if err := b.client.Delete(t.Context(), w.pods["my-lws-0"].DeepCopy()); err != nil {
		t.Fatal(err)
	}
	w = j.await(t, "the old group again", func(w world) bool {
		return w.available("my-lws") && w.pods["my-lws-0"] != nil && w.pods["my-lws-0"].UID != old &&
			w.pods["my-lws-0-1"] != nil &&
			w.services["my-lws-0"] != nil && metav1.IsControlledBy(w.services["my-lws-0"], w.pods["my-lws-0"])
	})
	checkGroup(t, w, "my-lws", 0, 2, "my-lws-0")
	checkGroup(t, w, "my-lws", 1, 2, "my-lws")
	b.patch(t, j, ns, "my-lws", `{"spec":{"rolloutStrategy":{"rollingUpdateConfiguration":{"partition":0}}}}`)
	w = j.await(t, "the last group to be updated", func(w world) bool {
		return w.available("my-lws") &&
			w.serviceNames() == "my-lws"
	})
	checkGroup(t, w, "my-lws", 0, 2, "my-lws")
	j.replay(since, func(w world, c change) {
		checkAgreement(t, w, c)
		checkServicesFollow(t, w, c)
	})
}

func testSecondChange(t *testing.T, b *bench) {
	ns := b.namespace(t)
	j := b.follow(t, ns)
	b.create(t, j, ns, "my-lws", 3, 2, shared)
	since := j.mark()
	b.patch(t, j, ns, "my-lws", policyPatch(unique))
	j.await(t, "the first replica to change", func(w world) bool { return strings.Contains(w.serviceNames(), "my-lws-2") })
	b.patch(t, j, ns, "my-lws", policyPatch(shared))
	w := j.await(t, "one Service again", func(w world) bool {
		return w.available("my-lws") &&
			w.serviceNames() == "my-lws" && len(w.pods) == 6
	})
	checkAll(t, w, "Shared")
	j.replay(since, func(w world, c change) {
		checkAgreement(t, w, c)
		checkServicesFollow(t, w, c)
		if w.services["my-lws"] == nil {
			t.Errorf("at %d there is no shared Service", c.version)
		}
	})
}

func testDeletion(t *testing.T, b *bench) {
	ns := b.namespace(t)
	j := b.follow(t, ns)
	b.create(t, j, ns, "my-lws", 2, 2, unique)
	b.create(t, j, ns, "other", 2, 1, shared)
	for _, name := range []string{"my-lws", "other"} {
		if err := b.client.Delete(t.Context(), &api.LeaderWorkerSet{ObjectMeta: metav1.ObjectMeta{
			Name:      name,
			Namespace: ns,
		}}); err != nil {
			t.Fatal(err)
		}
	}
	j.await(t, "everything to go", func(w world) bool { return len(w.pods)+len(w.services)+len(w.sets)+len(w.lws) == 0 })
}

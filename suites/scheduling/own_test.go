package scheduling_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// ownCommand is the argument with which the test program is a scheduler, as rehearse runs it: a process with a
// kubeconfig.
const ownCommand = "own-scheduler"

// ownScheduler binds each pod that has its scheduler name to the node with the label favourite, and records an event
// that names the scheduler's user.
func ownScheduler(ctx context.Context, name string) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	health := &http.Server{
		Addr: os.Getenv("HEALTH_ADDRESS"), ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
	}
	go func() { _ = health.ListenAndServe() }()
	for ctx.Err() == nil {
		pods, err := client.CoreV1().Pods("").Watch(ctx,
			metav1.ListOptions{FieldSelector: fields.Set{"spec.schedulerName": name, "spec.nodeName": ""}.String()})
		if err != nil {
			return err
		}
		for event := range pods.ResultChan() {
			pod, isPod := event.Object.(*corev1.Pod)
			if !isPod || event.Type != watch.Added {
				continue
			}
			if err := bind(ctx, client, pod, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func bind(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, name string) error {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "favourite"})
	if err != nil || len(nodes.Items) != 1 {
		return fmt.Errorf("%d nodes are the favourite: %w", len(nodes.Items), err)
	}
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: nodes.Items[0].Name},
	}
	if err := client.CoreV1().Pods(pod.Namespace).Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
		return err
	}
	me, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{},
		metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = client.EventsV1().Events(pod.Namespace).Create(ctx, &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: pod.Name + "-"}, EventTime: metav1.NowMicro(),
		Type: corev1.EventTypeNormal,
		Regarding: corev1.ObjectReference{
			APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name,
			UID: pod.UID,
		},
		Reason: "Scheduled", Action: "Binding", ReportingController: name, ReportingInstance: name, Note: "by " +
			me.Status.UserInfo.Username,
	}, metav1.CreateOptions{})
	return err
}

// A scheduler other than kube-scheduler can run as a system, next to the kube-scheduler that every cluster has.
func TestOwnScheduler(t *testing.T) {
	program, err := os.Executable()
	golden.Must(t, err)
	var text bytes.Buffer
	if err := template.Must(template.ParseFiles("testdata/own-scheduler.yaml.tmpl")).Execute(&text,
		map[string]string{"Program": program, "Command": ownCommand}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "own-scheduler.yaml")
	golden.Write(t, file, text.Bytes())
	set, err := scenarios.Load([]string{file})
	golden.Must(t, err)
	plan, err := harness.NewPlan(t.Context(), clustertest.Local(t), set.Scenarios, harness.PlanOptions{})
	golden.Must(t, err)
	recorder := reports.NewRecorder(plan.Result(), clock.RealClock{})
	golden.Must(t, harness.Execute(t.Context(), plan, harness.Options{Recorder: recorder}))
	s := recorder.Run().Tracks[0].Scenarios[0]
	if s.Status != reports.Passed {
		var said []string
		for _, step := range s.Steps {
			said = append(said, fmt.Sprintf("%s: %s %s", step.Status, step.Name, step.Message))
		}
		t.Errorf("%s: %s\n%s", s.Status, s.Message, strings.Join(said, "\n"))
	}
}

package realtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/reports"
)

// A scenario as an operator's maintainer would write it, with upgrades of the operator and Kubernetes under load,
// passes a correct operator and finds a bug.
func TestOperatorUnderLoad(t *testing.T) {
	for name, c := range map[string]struct {
		bug    string
		status reports.Status
		says   string
	}{
		"correct":             {"", reports.Passed, ""},
		"makes objects again": {"recreate", reports.Failed, "no config map was recreated"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OPERATOR_BUG", c.bug)
			result := execute(t, clustertest.Local(t), besideProgram(t, "testdata/operator"), 1)
			got := result.Tracks[0].Scenarios[0]
			if text := explain(result); got.Status != c.status || !strings.Contains(text+reports.Explain(got), c.says) {
				t.Errorf("%s, want %s and %q:\n%s", got.Status, c.status, c.says, text)
			}
		})
	}
}

var widgets = schema.GroupVersionResource{Group: "acme.example.com", Version: "v1", Resource: "widgets"}

// operator is a small operator: a webhook limits the size of widgets, a loop makes a ConfigMap for each.
type operator struct {
	client  dynamic.Interface
	version string
	// recreates is the bug: the operator replaces what its predecessor made.
	recreates bool
}

func runOperator(client dynamic.Interface, args []string) error {
	version := args[0]
	o := &operator{client: client, version: version, recreates: os.Getenv("OPERATOR_BUG") == "recreate"}
	go o.loop(context.Background())
	go func() {
		// runs until the process exits
		_ = http.ListenAndServe(os.Getenv("HEALTH_ADDRESS"), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	}()
	certificates := os.Getenv("CERT_DIR")
	return http.ListenAndServeTLS(net.JoinHostPort(os.Getenv("WEBHOOK_HOST"), os.Getenv("WEBHOOK_PORT")),
		filepath.Join(certificates, "tls.crt"), filepath.Join(certificates, "tls.key"), http.HandlerFunc(o.admit))
}

// admit rejects what is too large for this version.
func (o *operator) admit(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "no review", http.StatusBadRequest)
		return
	}
	var widget struct{ Spec struct{ Size int } }
	_ = json.Unmarshal(review.Request.Object.Raw, &widget) // an object that is not a widget has no size
	limit := 100
	if o.version == "2" {
		limit = 10
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: widget.Spec.Size <= limit}
	if !review.Response.Allowed {
		review.Response.Result = &metav1.Status{Code: 422, Message: fmt.Sprintf("size %d is more than %d", widget.Spec.Size,
			limit)}
	}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // a caller that is gone needs no answer
}

// loop reconciles everything again and again.
func (o *operator) loop(ctx context.Context) {
	ticker := time.NewTicker(200 * time.Millisecond)
	for first := true; ; <-ticker.C {
		list, err := o.client.Resource(widgets).List(ctx, metav1.ListOptions{})
		if err != nil {
			fmt.Println("list widgets:", err)
			continue
		}
		for i := range list.Items {
			if err := o.reconcile(ctx, &list.Items[i], first && o.recreates); err != nil {
				fmt.Println("reconcile:", err)
			}
		}
		first = false
	}
}

func (o *operator) reconcile(ctx context.Context, widget *unstructured.Unstructured, again bool) error {
	size, _, _ := unstructured.NestedInt64(widget.Object, "spec", "size")
	maps := o.client.Resource(configMaps).Namespace(widget.GetNamespace())
	if again {
		if err := maps.Delete(ctx, widget.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	_, err := maps.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": widget.GetName(), "labels": map[string]any{
			"widget":   widget.GetName(),
			"operator": o.version,
		}},
		"data": map[string]any{"size": strconv.FormatInt(size, 10)},
	}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = maps.Patch(ctx, widget.GetName(), types.MergePatchType,
			fmt.Appendf(nil, `{"metadata":{"labels":{"operator":%q}}}`, o.version), metav1.PatchOptions{})
	}
	if err != nil {
		return err
	}
	if phase, _, _ := unstructured.NestedString(widget.Object, "status", "phase"); phase == "Ready" {
		return nil
	}
	_, err = o.client.Resource(widgets).Namespace(widget.GetNamespace()).Patch(ctx, widget.GetName(), types.MergePatchType,
		[]byte(`{"status":{"phase":"Ready"}}`), metav1.PatchOptions{}, "status")
	return err
}

package simulators_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// widgets is a simulator of a system with one rule: the name "bad" is rejected.
func widgets() simulators.Simulator {
	return simulators.Simulator{
		Run:       runWidgets,
		Faults:    []simulators.Fault{{Name: "accepts-bad", Sentence: "Anything may be called bad.", Breaks: []string{"W-1"}}},
		Liberties: []simulators.Liberty{{Name: "noted", Sentence: "It notes that it started."}},
		Variants:  []string{"only"},
		Probes: []*unstructured.Unstructured{{Object: map[string]any{
			"apiVersion": "test.rehearse.dev/v1", "kind": "Widget", "metadata": map[string]any{"name": "probe"},
		}}},
	}
}

func runWidgets(ctx context.Context, o simulators.Options) error {
	bad := "bad"
	if slices.Contains(o.Faults, "accepts-bad") {
		bad = ""
	}
	if len(o.Liberties) > 0 && o.Taken != nil {
		o.Taken("noted")
	}
	client, err := dynamic.NewForConfig(o.RESTConfig)
	if err != nil {
		return err
	}
	ca, err := os.ReadFile(filepath.Join(o.CertDir, "ca.crt"))
	if err != nil {
		return err
	}
	address := net.JoinHostPort(o.Host, strconv.Itoa(o.Port))
	for resource, object := range map[string]map[string]any{
		"apiextensions.k8s.io/v1/customresourcedefinitions": crd("widgets", "Widget", ""),
		"admissionregistration.k8s.io/v1/validatingwebhookconfigurations": {
			"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
			"metadata": map[string]any{"name": "widgets"},
			"webhooks": []any{map[string]any{
				"name": "names.widgets.test", "admissionReviewVersions": []any{"v1"}, "sideEffects": "None",
				"clientConfig": map[string]any{"url": "https://" + address + "/validate", "caBundle": ca},
				"rules": []any{map[string]any{
					"apiGroups": []any{"test.rehearse.dev"}, "apiVersions": []any{"v1"}, "resources": []any{"widgets"},
					"operations": []any{"CREATE"},
				}},
			}},
		},
	} {
		parts := strings.Split(resource, "/")
		u := &unstructured.Unstructured{}
		if data, err := json.Marshal(object); err != nil {
			return err
		} else if err := json.Unmarshal(data, &u.Object); err != nil {
			return err
		}
		at := schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]}
		if _, err := client.Resource(at).Apply(ctx, u.GetName(), u, metav1.ApplyOptions{
			FieldManager: "widgets-simulator",
			Force:        true,
		}); err != nil {
			return err
		}
	}
	o.Logger.Info("installed")
	return serve(ctx, address, o.CertDir, func() string { return bad })
}

// gadgets is an external program with the same rule. A configuration file lists the bad names.
func gadgets(ctx context.Context, address, certDir, health, file string) error {
	go func() {
		server := &http.Server{
			Addr: health, ReadHeaderTimeout: time.Second,
			Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
		}
		fmt.Fprintln(os.Stderr, server.ListenAndServe())
	}()
	if user := os.Getenv("KUBECONFIG"); !strings.HasPrefix(file, filepath.Dir(user)) {
		return errors.New("KUBECONFIG is not in DIR: " + user)
	}
	return serve(ctx, address, certDir, func() string {
		data, err := os.ReadFile(file)
		if err != nil {
			return err.Error()
		}
		return string(data)
	})
}

// serve runs a webhook that rejects bad names.
func serve(ctx context.Context, address, certDir string, bad func() string) error {
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/validate", func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		if slices.Contains(strings.Fields(bad()), review.Request.Name) {
			review.Response.Allowed = false
			review.Response.Result = &metav1.Status{Message: review.Request.Name + " is a bad name", Code: http.StatusForbidden}
		}
		_ = json.NewEncoder(w).Encode(review)
	})
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	err := server.ListenAndServeTLS(filepath.Join(certDir, "tls.crt"), filepath.Join(certDir, "tls.key"))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// crd is a CustomResourceDefinition with a description.
func crd(plural, kind, description string) map[string]any {
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": plural + ".test.rehearse.dev"},
		"spec": map[string]any{
			"group": "test.rehearse.dev", "scope": "Namespaced", "names": map[string]any{"plural": plural, "kind": kind},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "description": description}},
			}},
		},
	}
}

func writeCRD(path string, object map[string]any) error {
	data, err := yaml.Marshal(object)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

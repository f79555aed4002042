package explore

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/harness/manifests"
)

//go:embed sample.yaml
var sampleText string

// sample is the definition of a sample kind, because Kubernetes also validates the formats of custom resources.
func sample() (*manifests.Object, error) {
	all, err := manifests.Sources{Paths: []string{"-"}, Stdin: strings.NewReader(sampleText)}.Load()
	if err != nil {
		return nil, fmt.Errorf("read sample.yaml: %w", err)
	}
	return all[0], nil
}

// definedWithin is how long the API server may take to serve a newly defined kind, and completeWithin how long it may
// take to list all kinds with their schemas. definedLook is the first pause between two checks.
const (
	definedWithin  = 30 * time.Second
	completeWithin = 10 * time.Second
	definedLook    = 100 * time.Millisecond
)

// customKinds are CustomResourceDefinitions.
type customKinds []*manifests.Object

// define creates the custom kinds. When they are served, it returns what the API server serves.
func (c customKinds) define(ctx context.Context, client *growth.Client, server discovery.DiscoveryInterface) (
	fields.Found, error,
) {
	found, err := served(ctx, server)
	if err != nil {
		return found, err
	}
	at := slices.IndexFunc(found.Kinds,
		func(k *fields.Kind) bool { return k.ID() == "CustomResourceDefinition.v1.apiextensions.k8s.io" })
	if at < 0 {
		c = nil
	}
	for _, definition := range c {
		answer, err := client.Create(ctx, found.Kinds[at], "", growth.Text(definition.Content.Object), false)
		if err == nil && !answer.Accepted() && answer.Code != 409 {
			err = fmt.Errorf("%s", answer.Words)
		}
		if err != nil {
			return found, fmt.Errorf("create %s (%s): %w", definition, definition.Place(), err)
		}
	}
	again := pauses.Growing(definedLook, time.Second)
	for began := time.Now(); ; {
		missing, waited := c.undefined(found.Kinds), time.Since(began)
		switch {
		case missing == "" && (found.Complete() || waited > completeWithin):
			return found, nil
		case waited > definedWithin:
			return found, fmt.Errorf("%s was created, but its kind is not served after %s", missing, definedWithin)
		}
		if !pauses.Wait(ctx, again) {
			return found, context.Cause(ctx)
		}
		if found, err = served(ctx, server); err != nil {
			return found, err
		}
	}
}

// served is what the API server serves, without the kinds of generated definitions.
func served(ctx context.Context, server discovery.DiscoveryInterface) (fields.Found, error) {
	found, err := fields.Kinds(ctx, server)
	found.Kinds = slices.DeleteFunc(found.Kinds, growth.Generated)
	found.Bare = slices.DeleteFunc(found.Bare, growth.Generated)
	return found, err
}

// undefined names a definition whose kind is not served yet; "" if there is none.
func (c customKinds) undefined(kinds []*fields.Kind) string {
	for _, definition := range c {
		group, kind := defined(definition)
		if !slices.ContainsFunc(kinds, func(k *fields.Kind) bool { return k.Group == group && k.Kind == kind }) {
			return definition.String()
		}
	}
	return ""
}

// defined is the kind that a CustomResourceDefinition defines.
func defined(definition *manifests.Object) (group, kind string) {
	group, _, _ = unstructured.NestedString(definition.Content.Object, "spec", "group")
	kind, _, _ = unstructured.NestedString(definition.Content.Object, "spec", "names", "kind")
	return group, kind
}

// definition is the CustomResourceDefinition of a kind; nil for kinds of Kubernetes.
func (c customKinds) definition(kind *fields.Kind) map[string]any {
	for _, one := range c {
		if group, name := defined(one); group == kind.Group && name == kind.Kind {
			return one.Content.Object
		}
	}
	return nil
}

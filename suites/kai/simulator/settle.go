package simulator

import (
	"context"
	"regexp"
	"strings"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/suites/kai/api"
)

// settle waits until the API server uses the installed schema and webhooks: both become effective some time after they
// are stored. Each probe name distinguishes schemas that differ in one rule; they are written as dry runs.
func (e *endpoints) settle(ctx context.Context, c *cluster, crd *apiextensionsv1.CustomResourceDefinition) error {
	_, group, err := schemas(crd)
	if err != nil {
		return err
	}
	rule := group.Properties["name"]
	for _, name := range []string{"probe", "", "!", "Probe", strings.Repeat("p", maxNameBytes+1)} {
		judged := name
		if e.mutates() && e.faults.Has(namesLowered) {
			judged = strings.ToLower(name)
		}
		wanted := inSchema(rule, judged)
		err := c.until(ctx, "wait until PodGroups are validated as configured", func(ctx context.Context) (bool, error) {
			passed, err := e.probe(ctx, c, name)
			return passed == wanted, err
		})
		if err != nil {
			return err
		}
	}
	return c.until(ctx, "wait until the webhooks are called for PodGroups", func(ctx context.Context) (bool, error) {
		e.validated.Store(false)
		e.mutated.Store(false)
		if _, err := e.probe(ctx, c, "probe"); err != nil {
			return false, err
		}
		return e.validated.Load() == e.hasWebhook() && e.mutated.Load() == e.mutates(), nil
	})
}

// probe reports whether a PodGroup with that sub group passes the schema. The webhook may still reject it, as long as
// it is this run's webhook.
func (e *endpoints) probe(ctx context.Context, c *cluster, name string) (passed bool, err error) {
	group := &api.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: e.probeName},
		Spec:       api.PodGroupSpec{MinMember: 1, SubGroups: []api.SubGroup{{Name: name, MinMember: 1}}},
	}
	err = c.client.Create(ctx, group, client.DryRunAll)
	switch {
	case apierrors.IsInvalid(err):
		return false, nil
	case err != nil && strings.Contains(err.Error(), "denied the request"):
		return true, nil
	}
	return err == nil, err
}

// inSchema reports whether the schema allows a name.
func inSchema(rule apiextensionsv1.JSONSchemaProps, name string) bool {
	length := int64(utf8.RuneCountInString(name))
	switch {
	case rule.MinLength != nil && length < *rule.MinLength, rule.MaxLength != nil && length > *rule.MaxLength:
		return false
	case rule.Pattern == "":
		return true
	}
	matched, err := regexp.MatchString(rule.Pattern, name)
	return err == nil && matched
}

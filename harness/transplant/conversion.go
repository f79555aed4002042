package transplant

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/storage"
)

// conversion is the conversion webhook of a custom resource, and the version in which it is stored.
type conversion struct {
	hook   Hook
	stored string
}

// conversionOf returns the conversion webhook of a CustomResourceDefinition; false if it has none.
func conversionOf(definition *unstructured.Unstructured) (conversion, bool) {
	strategy, _, _ := unstructured.NestedString(definition.Object, "spec", "conversion", "strategy")
	if strategy != "Webhook" {
		return conversion{}, false
	}
	client, _, _ := unstructured.NestedMap(definition.Object, "spec", "conversion", "webhook", "clientConfig")
	hook := hookOf(definition.GetName(), "", client)
	hook.Converts = true
	stored, _ := WithoutConversion(definition.DeepCopy())
	return conversion{hook, stored}, true
}

func (f *facts) definition(o *unstructured.Unstructured) {
	if of, webhook := conversionOf(o); webhook {
		f.conversions[o.GetName()] = of
	}
}

// converts reports whether a program answers a conversion webhook in the copy.
func (c *Copy) converts(of conversion) bool { return c.Webhooks != nil && c.Webhooks.Runs(of.hook) }

// unconverted records that an object in an older version than the stored one cannot be judged: without its conversion
// webhook, the API server takes its fields for those of the stored version. err says that it cannot be decoded.
func (c *Copy) unconverted(e Entry, o *unstructured.Unstructured, err error) {
	resource, _ := storage.Named(e.Key)
	of, webhook := c.facts.conversions[resource.String()]
	switch {
	case !webhook || c.converts(of):
	case err != nil:
		c.lack(e.Key, fmt.Sprintf("its conversion webhook does not run in the copy, and the version in which it is "+
			"stored is not known: it may have been misread as %s", of.stored))
	case o.GroupVersionKind().Version != of.stored:
		c.lack(e.Key, fmt.Sprintf("it is stored as %s, and its conversion webhook does not run in the copy: it was "+
			"misread as %s", o.GroupVersionKind().Version, of.stored))
	}
}

// definition points the conversion webhook of a CustomResourceDefinition to its program. Without a program, it
// removes the webhook, and only the stored version is served.
func (c *Copy) definition(o *unstructured.Unstructured) (*unstructured.Unstructured, bool) {
	of, webhook := conversionOf(o)
	if !webhook {
		return nil, true
	}
	forget(o)
	if c.converts(of) {
		return o, unstructured.SetNestedMap(o.Object, c.clientConfig(of.hook), "spec", "conversion", "webhook",
			"clientConfig") == nil
	}
	stored, others := WithoutConversion(o)
	if len(others) > 0 {
		c.lacks = append(c.lacks, Lack{"CustomResourceDefinition.apiextensions.k8s.io", o.GetName(), fmt.Sprintf(
			"its conversion webhook does not run in the copy: its objects were rehearsed as %s, in which they are stored, "+
				"and not as %s", stored, strings.Join(others, ", "))})
	}
	return o, true
}

// WithoutConversion removes a CustomResourceDefinition's conversion webhook, and makes the stored version the only
// served one. It returns that version, and the others that were served.
func WithoutConversion(definition *unstructured.Unstructured) (stored string, others []string) {
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, version := range versions {
		fields, ok := version.(map[string]any)
		if !ok {
			continue
		}
		name := fmt.Sprint(fields["name"])
		switch {
		case fields["storage"] == true:
			stored, fields["served"] = name, true
			continue
		case fields["served"] == true:
			others = append(others, name)
		}
		fields["served"] = false
	}
	_ = unstructured.SetNestedSlice(definition.Object, versions, "spec", "versions") // they were read from there
	_ = unstructured.SetNestedMap(definition.Object, map[string]any{"strategy": "None"}, "spec", "conversion")
	return stored, others
}

package simulator

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"

	"github.com/rehearse-dev/rehearse/suites/kai/api"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

// anyCasePattern is the pattern with the fault crdPatternIgnoresCase.
const anyCasePattern = `^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$`

// definition returns the CustomResourceDefinition of the variant, with the faults.
func (i implementation) definition() (*apiextensionsv1.CustomResourceDefinition, error) {
	crd, err := api.CustomResourceDefinition()
	if err != nil {
		return nil, err
	}
	spec, group, err := schemas(crd)
	if err != nil {
		return nil, err
	}
	name, parent := group.Properties["name"], group.Properties["parent"]
	i.shapeName(&name)
	if i.faults.Has(crdParentPattern) && i.ruleInSchema() {
		parent.Pattern = name.Pattern
	}
	group.Properties["name"], group.Properties["parent"] = name, parent
	if i.faults.Has(crdNameOptional) {
		group.Required = nil
	}
	if i.liberties.Takes(libertyDuplicates) {
		list := spec.Properties["subGroups"]
		list.XListType, list.XListMapKeys = ptr.To("map"), []string{"name"}
		spec.Properties["subGroups"] = list
	}
	if i.liberties.Takes(libertyStatusSchema) {
		for _, field := range []string{"phase", "running", "pending", "succeeded", "failed"} {
			delete(statusOf(crd).Properties, field)
		}
	}
	if i.liberties.Takes(liberty.MoreMetadata) {
		crd.Labels, crd.Annotations = map[string]string{liberty.Mark: "yes"}, map[string]string{liberty.Mark: "yes"}
		crd.Spec.Names.Categories = append(crd.Spec.Names.Categories, "all")
	}
	if i.faults.Has(crdForgetsTopology) {
		delete(group.Properties, "topologyConstraint")
		delete(spec.Properties, "topologyConstraint")
	}
	return crd, nil
}

// schemas returns the schemas of a PodGroup's spec and of a sub group, whose properties can be changed in place.
func schemas(crd *apiextensionsv1.CustomResourceDefinition) (spec, group *apiextensionsv1.JSONSchemaProps, err error) {
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		if version.Name != api.GroupVersion.Version || version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
			continue
		}
		properties := version.Schema.OpenAPIV3Schema.Properties["spec"]
		if items := properties.Properties["subGroups"].Items; items != nil && items.Schema != nil {
			return &properties, items.Schema, nil
		}
	}
	return nil, nil, fmt.Errorf("the CustomResourceDefinition %s has no schema of sub groups in version %s", crd.Name,
		api.GroupVersion.Version)
}

// statusOf returns the schema of a PodGroup's status, whose properties can be changed in place.
func statusOf(crd *apiextensionsv1.CustomResourceDefinition) apiextensionsv1.JSONSchemaProps {
	for _, version := range crd.Spec.Versions {
		if version.Name == api.GroupVersion.Version {
			return version.Schema.OpenAPIV3Schema.Properties["status"]
		}
	}
	return apiextensionsv1.JSONSchemaProps{}
}

// shapeName removes the parts of the rule that the variant does not have.
func (i implementation) shapeName(name *apiextensionsv1.JSONSchemaProps) {
	if !i.ruleInSchema() {
		name.Pattern, name.MaxLength = "", nil
	}
	switch i.variant {
	case Webhook:
		name.MinLength = nil
	case Older:
		name.Description = "Name of the sub group, unique in its PodGroup."
	}
	if name.Pattern != "" && i.faults.Has(crdPatternIgnoresCase) {
		name.Pattern = anyCasePattern
	}
	if i.faults.Has(crdPatternMissing) {
		name.Pattern = ""
	}
	if i.faults.Has(crdMaxLengthMissing) {
		name.MaxLength = nil
	}
	if i.faults.Has(crdMinLengthMissing) {
		name.MinLength = nil
	}
	if i.faults.Has(crdUndocumented) {
		name.Description = "Name of the sub group."
	}
}

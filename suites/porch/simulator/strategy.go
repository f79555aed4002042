package simulator

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/storage/names"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
)

// strategy is what every API server must know about a stored kind. The rules are in the engine, and are applied
// elsewhere.
type strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
}

func (strategy) NamespaceScoped() bool                                            { return true }
func (strategy) AllowCreateOnUpdate(context.Context) bool                         { return false }
func (strategy) AllowUnconditionalUpdate(context.Context) bool                    { return false }
func (strategy) Canonicalize(runtime.Object)                                      {}
func (strategy) PrepareForCreate(context.Context, runtime.Object)                 {}
func (strategy) PrepareForUpdate(context.Context, runtime.Object, runtime.Object) {}
func (strategy) WarningsOnCreate(context.Context, runtime.Object) []string        { return nil }
func (strategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// Validate checks the object's name, which is composed of other fields.
func (strategy) Validate(_ context.Context, object runtime.Object) field.ErrorList {
	name := object.(*v1alpha1.PackageRevision).Name
	var all field.ErrorList
	for _, problem := range validation.IsDNS1123Subdomain(name) {
		all = append(all, field.Invalid(field.NewPath("metadata", "name"), name, problem))
	}
	return all
}

func (strategy) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}

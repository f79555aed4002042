package api

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/suites/internal/simulatortest"
)

const generate = "run go generate ./suites/leaderworkerset/api"

// The CustomResourceDefinition has the same fields as the Go types.
func TestDefinitionIsOfTheTypes(t *testing.T) {
	crd, err := CustomResourceDefinition()
	golden.Must(t, err)
	if crd.Name != Resource+"."+Group || crd.Spec.Names.Kind != Kind || len(crd.Spec.Versions) != 1 ||
		crd.Spec.Versions[0].Name != Version {
		t.Errorf("the definition is of %s, %+v", crd.Name, crd.Spec.Names)
	}
	root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	simulatortest.SameFields(t, "spec", reflect.TypeFor[LeaderWorkerSetSpec](), root.Properties["spec"])
	simulatortest.SameFields(t, "status", reflect.TypeFor[LeaderWorkerSetStatus](), root.Properties["status"])

	var values []string
	for _, value := range root.Properties["spec"].Properties["networkConfig"].Properties["subdomainPolicy"].Enum {
		values = append(values, string(value.Raw))
	}
	if want := []string{`"` + string(SubdomainShared) + `"`, `"` + string(SubdomainUniquePerReplica) +
		`"`}; !slices.Equal(values, want) {
		t.Errorf("the policies are %v, want %v; %s", values, want, generate)
	}
}

// The metadata of templates is kept: without its fields in the definition, the labels of pods would be lost.
func TestTemplatesKeepTheirMetadata(t *testing.T) {
	crd, err := CustomResourceDefinition()
	golden.Must(t, err)
	template := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["leaderWorkerTemplate"]
	for _, name := range []string{"leaderTemplate", "workerTemplate"} {
		for _, field := range []string{"labels", "annotations"} {
			if _, ok := template.Properties[name].Properties["metadata"].Properties[field]; !ok {
				t.Errorf("the metadata of %s has no %s; %s", name, field, generate)
			}
		}
	}
}

// A deep copy shares no memory with the original.
func TestDeepCopy(t *testing.T) {
	number, policy := int32(1), SubdomainShared
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}},
	}
	set := &LeaderWorkerSet{
		ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"a": "b"}},
		Spec: LeaderWorkerSetSpec{
			Replicas: &number,
			LeaderWorkerTemplate: LeaderWorkerTemplate{
				LeaderTemplate: template.DeepCopy(), WorkerTemplate: template,
				Size: &number, RestartPolicy: RestartNone,
			},
			RolloutStrategy: RolloutStrategy{
				Type: RollingUpdate,
				RollingUpdateConfiguration: &RollingUpdateConfiguration{
					Partition: &number, MaxUnavailable: intstr.FromInt32(1),
					MaxSurge: intstr.FromString("1%"),
				},
			},
			StartupPolicy: LeaderReady,
			NetworkConfig: &NetworkConfig{SubdomainPolicy: &policy},
		},
		Status: LeaderWorkerSetStatus{
			Conditions: []metav1.Condition{{Type: ConditionAvailable}}, ReadyReplicas: 1,
			UpdatedReplicas: 1, Replicas: 1, HPAPodSelector: "a=b",
		},
	}
	list := &LeaderWorkerSetList{Items: []LeaderWorkerSet{*set}}
	before, err := json.Marshal(list)
	golden.Must(t, err)
	other := list.DeepCopyObject().(*LeaderWorkerSetList)
	if !reflect.DeepEqual(list, other) {
		t.Errorf("the copy differs; %s", generate)
	}
	overwrite(reflect.ValueOf(other).Elem())
	if after, err := json.Marshal(list); err != nil || string(after) != string(before) {
		t.Errorf("the copy shares memory: %s\n%s; %s", before, after, generate)
	}
}

// overwrite changes everything that a value holds or refers to.
func overwrite(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			overwrite(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				overwrite(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			overwrite(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			v.SetMapIndex(key, reflect.Zero(v.Type().Elem()))
		}
	case reflect.String:
		v.SetString("overwritten")
	case reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(99)
	}
}

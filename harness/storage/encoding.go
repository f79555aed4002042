package storage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// Encode returns what a kube-apiserver stores for an object: protobuf for Kubernetes' own kinds, JSON for custom
// resources. Objects with a kind or a field that is unknown here are also JSON, because protobuf would lose it. A
// kube-apiserver reads both for every kind.
func Encode(r Resource, o *unstructured.Unstructured) ([]byte, error) {
	o = o.DeepCopy()
	// resourceVersion is etcd's revision, and no version still uses selfLink
	for _, field := range []string{"resourceVersion", "selfLink"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	if !r.Custom {
		if typed, err := typedOf(o); err == nil {
			var data bytes.Buffer
			if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(typed, &data); err != nil {
				return nil, fmt.Errorf("encode %s %s/%s: %w", r.Kind, o.GetNamespace(), o.GetName(), err)
			}
			return data.Bytes(), nil
		}
	}
	data, err := json.Marshal(o.Object)
	if err != nil {
		return nil, fmt.Errorf("encode %s %s/%s: %w", r.Kind, o.GetNamespace(), o.GetName(), err)
	}
	return data, nil
}

// typedOf returns the object in its Go type. It returns an error if there is no type, or the type lacks a field.
func typedOf(o *unstructured.Unstructured) (runtime.Object, error) {
	typed, err := scheme.Scheme.New(o.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, typed, true); err != nil {
		return nil, err
	}
	typed.GetObjectKind().SetGroupVersionKind(o.GroupVersionKind())
	return typed, nil
}

// ErrUnreadable means that a stored value is neither JSON nor protobuf of a kind that is known here.
var ErrUnreadable = errors.New("neither JSON nor protobuf of a known kind")

var protobufBegins = []byte("k8s\x00")

// Decode reads a stored value.
func Decode(value []byte) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	if !bytes.HasPrefix(value, protobufBegins) {
		if err := o.UnmarshalJSON(value); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
		return o, nil
	}
	typed, kind, err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Decode(value, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	if o.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(typed); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	o.SetGroupVersionKind(*kind)
	return o, nil
}

// Encrypted returns the provider of an EncryptionConfiguration that encrypted a stored value, such as aescbc or kms;
// "" if the value is not encrypted.
func Encrypted(value []byte) string {
	rest, ok := bytes.CutPrefix(value, []byte("k8s:enc:"))
	if !ok {
		return ""
	}
	provider, _, _ := bytes.Cut(rest, []byte(":"))
	return string(provider)
}

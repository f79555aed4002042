// Package manifests reads objects from files, as kubectl does: each with its position, and in an order in which they
// can be created.
package manifests

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object is one object of a file.
type Object struct {
	// Content of the object, as it is written.
	Content *unstructured.Unstructured
	// File and Line where it begins. Line is 0 if there is none. An element of a List has the line of the List.
	File string
	Line int
	// Generated: the manifest has a generateName instead of a name. Content has a name that begins with it.
	Generated bool
}

// GVK is the object's kind.
func (o *Object) GVK() schema.GroupVersionKind { return o.Content.GroupVersionKind() }

// Place is file:line.
func (o *Object) Place() string {
	if o.Line == 0 {
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

// String names the object, such as Deployment shop/web.
func (o *Object) String() string {
	name := o.Content.GetName()
	if namespace := o.Content.GetNamespace(); namespace != "" {
		name = namespace + "/" + name
	}
	return o.Content.GetKind() + " " + name
}

// Twice returns the error for an object that is also at an earlier place.
func (o *Object) Twice(before *Object) *Error {
	return &Error{File: o.File, Line: o.Line, Message: fmt.Sprintf("%s is also at %s; remove one of them", o,
		before.Place())}
}

// Error is a problem at a place in a file. Line is 0 if there is none.
type Error struct {
	File    string
	Line    int
	Message string
}

// Error is file:line: message.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message)
}

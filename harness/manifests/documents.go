package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// document is one part of a file between lines that begin with ---.
type document struct {
	text string
	// begin is the line of the file where the text begins. line is where its content begins.
	begin, line int
}

// split splits a file into documents as kubectl does. It leaves out documents that contain only comments. A document
// that begins on the line of its --- is an error: kubectl does not read it either.
func split(file, text string) ([]document, error) {
	var documents []document
	var errs []error
	current, skip := document{begin: 1}, false
	number, at, from := 0, 0, 0 // at is where the line ends in the text, and from where the document begins
	end := func(to, next int) {
		if current.line > 0 && !skip {
			current.text = text[from:to]
			documents = append(documents, current)
		}
		current, skip, from = document{begin: next}, false, at
	}
	for line := range strings.Lines(text) {
		number++
		begin := at
		at += len(line)
		if rest, separates := strings.CutPrefix(line, "---"); separates {
			end(begin, number+1)
			if rest = strings.TrimSpace(rest); rest != "" && rest[0] != '#' {
				errs = append(errs, &Error{File: file, Line: number, Message: "there is text after ---; begin the document " +
					"on the next line"})
				skip = true
			}
			continue
		}
		if trimmed := strings.TrimSpace(line); current.line == 0 && trimmed != "" && trimmed[0] != '#' {
			current.line = number
		}
	}
	end(at, 0)
	return documents, errors.Join(errs...)
}

// parse reads the objects of a file. Each invalid document is a separate error. The others are still read.
func parse(file string, data []byte) ([]*Object, error) {
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return nil, &Error{File: file, Line: 1, Message: "the file is UTF-16 text, as PowerShell writes it; save it as UTF-8"}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	documents, err := split(file, string(data))
	errs := []error{err}
	var objects []*Object
	for _, d := range documents {
		found, err := d.objects(file)
		objects, errs = append(objects, found...), append(errs, err)
	}
	return objects, errors.Join(errs...)
}

func (d document) objects(file string) ([]*Object, error) {
	values, err := d.values()
	if err != nil {
		return nil, &Error{File: file, Line: d.lineOf(err), Message: "not valid YAML: " + yamlMessage(err)}
	}
	var objects []*Object
	var errs []error
	for _, value := range values {
		found, err := flatten(file, d.line, value)
		objects, errs = append(objects, found...), append(errs, err)
	}
	return objects, errors.Join(errs...)
}

// values returns the values of a document: one in YAML, or several consecutive JSON texts.
func (d document) values() ([]any, error) {
	if strings.HasPrefix(strings.TrimSpace(d.text), "{") {
		if values, err := jsonValues(d.text); err == nil {
			return values, nil
		} // it may be YAML in braces
	}
	text, err := yaml.YAMLToJSON([]byte(d.text))
	if err != nil {
		return nil, err
	}
	var value any
	if err := utiljson.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	if value == nil {
		return nil, nil
	}
	return []any{value}, nil
}

func jsonValues(text string) ([]any, error) {
	var values []any
	decoder := json.NewDecoder(strings.NewReader(text))
	for {
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return values, nil
		}
		if err != nil {
			return nil, err
		}
		var value any
		if err := utiljson.Unmarshal(raw, &value); err != nil {
			return nil, err
		}
		values = append(values, value)
	}
}

// flatten returns the object in a value, or the objects if it is a List.
func flatten(file string, line int, value any) ([]*Object, error) {
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, &Error{File: file, Line: line, Message: "not a Kubernetes object: want apiVersion, kind and metadata"}
	}
	content := &unstructured.Unstructured{Object: fields}
	if content.GetAPIVersion() == "" || content.GetKind() == "" {
		return nil, &Error{File: file, Line: line, Message: "not a Kubernetes object: apiVersion or kind is missing; name " +
			"files, or use a folder of manifests only"}
	}
	if content.GroupVersionKind().Group == "kustomize.config.k8s.io" {
		return nil, &Error{File: file, Line: line, Message: "a kustomization is no object of the cluster: build it " +
			"(kubectl kustomize), or give its folder to rehearse upgrade with -k"}
	}
	if !strings.HasSuffix(content.GetKind(), "List") || !content.IsList() {
		generated := content.GetName() == "" && content.GetGenerateName() != ""
		if content.GetName() == "" && !generated {
			return nil, &Error{File: file, Line: line, Message: content.GetKind() +
				": metadata.name is missing or not a string"}
		}
		return []*Object{{Content: content, File: file, Line: line, Generated: generated}}, nil
	}
	items, _ := fields["items"].([]any)
	var objects []*Object
	var errs []error
	for _, item := range items {
		// The items of a typed list, such as a PodList, need not say what they are.
		if fields, ok := item.(map[string]any); ok && fields["kind"] == nil && fields["apiVersion"] == nil &&
			content.GetKind() != "List" {
			fields["kind"], fields["apiVersion"] = strings.TrimSuffix(content.GetKind(), "List"), content.GetAPIVersion()
		}
		found, err := flatten(file, line, item)
		objects, errs = append(objects, found...), append(errs, err)
	}
	return objects, errors.Join(errs...)
}

var yamlLine = regexp.MustCompile(`\bline (\d+)(: )?`)

// lineOf returns the line of the file that the parser's error names.
func (d document) lineOf(err error) int {
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		if line, err := strconv.Atoi(m[1]); err == nil {
			return d.begin + line - 1
		}
	}
	return d.line
}

// yamlMessage returns the parser's error without its line number.
func yamlMessage(err error) string {
	text := err.Error()
	for _, prefix := range []string{"error converting YAML to JSON: ", "yaml: ", "unmarshal errors:\n  "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return fmt.Sprint(strings.TrimSpace(yamlLine.ReplaceAllString(text, "")))
}

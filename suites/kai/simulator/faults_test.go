package simulator

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/suites/kai/api"
)

func TestFaultsSayWhatTheyAre(t *testing.T) {
	for _, fault := range Faults() {
		if !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(fault.Name) || !strings.HasSuffix(fault.Sentence, ".") {
			t.Errorf("%+v: want a name of words joined by dashes, and a sentence", fault)
		}
	}
}

func TestUnknownFaultsAndVariants(t *testing.T) {
	if _, err := newImplementation("", []string{"no-such-fault"}, nil); err == nil || !strings.Contains(err.Error(),
		namesUnchecked) {
		t.Errorf("an unknown fault: %v", err)
	}
	if _, err := newImplementation("no-such-variant", nil, nil); err == nil || !strings.Contains(err.Error(), Older) {
		t.Errorf("an unknown variant: %v", err)
	}
	i, err := newImplementation("", nil, nil)
	if err != nil || i.variant != Both {
		t.Errorf("no variant: %+v, %v", i, err)
	}
}

// Each variant's CustomResourceDefinition is in a file, so that a reader can compare them. UPDATE=1 writes the files.
// Variants with the current schema have the API's own definition.
func TestDefinitions(t *testing.T) {
	for _, variant := range Variants() {
		t.Run(variant, func(t *testing.T) {
			i, err := newImplementation(variant, nil, nil)
			golden.Must(t, err)
			crd, err := i.definition()
			golden.Must(t, err)
			if variant == Both || variant == CRD {
				want, err := api.CustomResourceDefinition()
				golden.Must(t, err)
				if !reflect.DeepEqual(crd, want) {
					t.Error("it is not the API's own definition")
				}
				return
			}
			got, err := yaml.Marshal(crd)
			golden.Must(t, err)
			file := "testdata/crd-" + variant + ".yaml"
			if os.Getenv("UPDATE") != "" {
				golden.Write(t, file, got)
			}
			want := golden.Read(t, file)
			if string(got) != want {
				t.Errorf("%s is not what the variant has; see the difference with UPDATE=1", file)
			}
		})
	}
}

func TestSchemaAndWebhookHaveTheSameRule(t *testing.T) {
	i, err := newImplementation(Both, nil, nil)
	golden.Must(t, err)
	crd, err := i.definition()
	golden.Must(t, err)
	_, group, err := schemas(crd)
	golden.Must(t, err)
	name := group.Properties["name"]
	if name.Pattern != namePattern.String() || *name.MaxLength != maxNameBytes || *name.MinLength != 1 {
		t.Errorf("the schema has %q, %d to %d; the webhook has %q, 1 to %d", name.Pattern, *name.MinLength, *name.MaxLength,
			namePattern, maxNameBytes)
	}
	if group.Properties["parent"].Pattern != "" {
		t.Error("the schema has a pattern for parents")
	}
}

package features_test

import (
	"io/fs"
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestRead(t *testing.T) {
	list, err := features.Read(version(t, "1.36.3"), os.DirFS("testdata/kubernetes"), os.DirFS("testdata/client-go"))
	golden.Must(t, err)
	want := &features.List{Version: "1.36.3", Gates: map[string]features.Gate{
		"RacingPods": {Specs: []features.Spec{
			{Since: "1.34", Stage: features.Alpha}, {Since: "1.36", Stage: features.Beta, Default: true},
		}},
		"RacingTeams": {
			Specs: []features.Spec{{Since: "1.35", Stage: features.Alpha}},
			Needs: []string{"OrderlyFinish", "RacingPods"},
		},
		"SpellsLikeAGate": {Specs: []features.Spec{
			{Since: "1.0", Stage: features.GA, Default: true}, {
				Since: "1.35", Stage: features.Deprecated, Default: true,
				Locked: true,
			},
		}},
		"OrderlyFinish": {
			Specs: []features.Spec{
				{Since: "1.33", Stage: features.Beta},
				{Since: "1.36", Stage: features.GA, Default: true, Locked: true},
			},
			Needs: []string{"SpellsLikeAGate"},
		},
		"LateStart": {Specs: []features.Spec{
			{Since: "1.30", Stage: features.Alpha}, {
				Since: "1.30", Stage: features.Alpha, Default: true,
				MinCompatibility: "1.30",
			},
		}},
		"ComesEarly": {Specs: []features.Spec{
			{Since: "1.36", Stage: features.Beta}, {
				Since: "1.36", Stage: features.Beta, Default: true,
				MinCompatibility: "1.36",
			},
		}},
	}}
	if !reflect.DeepEqual(list, want) {
		t.Errorf("got  %+v\nwant %+v", list, want)
	}
}

func TestReadUnversionedClient(t *testing.T) {
	old := edited(t, "testdata/kubernetes", gates, "map[featuregate.Feature][]featuregate.Feature",
		"map[featuregate.Feature]string")
	list, err := features.Read(version(t, "1.34.4"), old, os.DirFS("testdata/old-client-go"))
	golden.Must(t, err)
	want := features.Gate{Specs: []features.Spec{{Since: "0.0", Stage: features.Beta, Default: true}}}
	if got := list.Gates["OrderlyFinish"]; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if spec, started := list.Gates["OrderlyFinish"].At(version(t, "1.34.4")); !started || !spec.Default {
		t.Errorf("at 1.34.4 it is %+v, %t", spec, started)
	}
}

const (
	published = "test/compatibility_lifecycle/reference/versioned_feature_list.yaml"
	gates     = "pkg/features/kube_features.go"
	client    = "features/known_features.go"
)

// Unknown content is an error: an incomplete list would give wrong answers about gates.
func TestReadRejectsWhatItDoesNotUnderstand(t *testing.T) {
	for _, test := range []struct{ name, file, old, new, want string }{
		{"an unknown stage", published, "Alpha", "Gamma", "no known stage"},
		{"a bad version", published, `"1.34"`, `"soon"`, `version "soon"`},
		{
			"no such version of compatibility", published, `minCompatibilityVersion: "1.36"`, `minCompatibilityVersion: "soon"`,
			`version "soon"`,
		},
		{
			"two specs at the same time", published, `    minCompatibilityVersion: "1.36"`, "",
			"ComesEarly: it has two specs of version 1.36",
		},
		{"no YAML", published, "- name", "- : name", "versioned_feature_list.yaml"},
		{"no gates", gates, "featuregate.Feature =", "string =", "declares no feature gates"},
		{"no Go", gates, "const (", "const [", "kube_features.go"},
		{"no dependencies", gates, "][]featuregate.Feature{", "]set{", "no dependencies"},
		{"an unknown dependent", gates, "RacingTeams: {", "RunningTeams: {", "dependencies of RunningTeams"},
		{"an unknown dependency", gates, "clientfeatures.OrderlyFinish)}", "clientfeatures.Finish)}", "depend on Finish"},
		{"a dependency that is no name", gates, "{RacingPods,", `{all("pods"),`, "a dependency of RacingTeams"},
		{"a client gate without a spec", client, "	LateStart: {", "	Other: {", "LateStart has no spec"},
		{"a client gate's version that is no call", client, `version.MustParse("1.30")`, "nil", "LateStart"},
		{
			"a client gate's two specs at the same time", client, `, MinCompatibilityVersion: version.MustParse("1.30")`, "",
			"LateStart: it has two specs of version 1.30",
		},
		{"a client gate's default that is no constant", client, "Default: true", "Default: onLinux", "Default is neither"},
	} {
		t.Run(test.name, func(t *testing.T) {
			kubernetes, clientGo := os.DirFS("testdata/kubernetes"), os.DirFS("testdata/client-go")
			if test.file == client {
				clientGo = edited(t, "testdata/client-go", client, test.old, test.new)
			} else {
				kubernetes = edited(t, "testdata/kubernetes", test.file, test.old, test.new)
			}
			_, err := features.Read(version(t, "1.36.3"), kubernetes, clientGo)
			golden.Error(t, err, test.want)
		})
	}
}

func TestReadMissingFiles(t *testing.T) {
	kubernetes, clientGo := os.DirFS("testdata/kubernetes"), os.DirFS("testdata/client-go")
	if _, err := features.Read(version(t, "1.36.3"), fstest.MapFS{}, clientGo); err == nil {
		t.Error("read a list that is not there")
	}
	if _, err := features.Read(version(t, "1.36.3"), kubernetes, fstest.MapFS{}); err == nil {
		t.Error("read client gates that are not there")
	}
}

func TestInHelp(t *testing.T) {
	got := features.InHelp(`Usage:
      --feature-gates colonSeparatedMultimapStringString   Comma-separated list of pairs. Options are:
                                                           kube:AllAlpha=true|false (ALPHA - default=false)
                                                           kube:RacingPods=true|false (BETA - default=true)
      --runtime-config mapStringString                     A set of pairs. Supported options are:
                                                           v1=true|false for the core API group
Kubelet style:
                RacingTeams=true|false (ALPHA - default=false)
`)
	if want := map[string]bool{"AllAlpha": false, "RacingPods": true, "RacingTeams": false}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// edited returns a copy of a folder in which every occurrence of a text in one file is replaced.
func edited(t *testing.T, dir, file, before, after string) fs.FS {
	t.Helper()
	copied := fstest.MapFS{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(os.DirFS(dir), path)
		if path == file {
			text := strings.ReplaceAll(string(data), before, after)
			if text == string(data) {
				t.Fatalf("%s has no %q to replace", path, before)
			}
			data = []byte(text)
		}
		copied[path] = &fstest.MapFile{Data: data}
		return err
	})
	golden.Must(t, err)
	return copied
}

func version(t *testing.T, text string) clusters.Version {
	t.Helper()
	v, err := clusters.ParseVersion(text)
	golden.Must(t, err)
	return v
}

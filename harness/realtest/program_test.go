package realtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// programs are the programs that a user would bring along. This test's binary runs one if a scenario passes its name.
var programs = map[string]func(client dynamic.Interface, args []string) error{
	"operator": runOperator,
	"leak":     leak,
	"denier":   runDenier,
}

// asProgram runs the program that the arguments name, and exits. It returns if they name none.
func asProgram(args []string) {
	if len(args) < 2 || programs[args[1]] == nil {
		return
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err == nil {
		config.QPS = -1
		var client dynamic.Interface
		if client, err = dynamic.NewForConfig(config); err == nil {
			err = programs[args[1]](client, args[2:])
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", args[1], err)
		os.Exit(1)
	}
	os.Exit(0)
}

// besideProgram returns the scenario of a folder, in a copy where "program" is this test's binary.
func besideProgram(t *testing.T, folder string) *scenarios.Set {
	t.Helper()
	copied := t.TempDir()
	golden.Must(t, os.CopyFS(copied, os.DirFS(folder)))
	program, err := os.Executable()
	golden.Must(t, err)
	golden.Must(t, os.Symlink(program, filepath.Join(copied, "program")))
	set, err := scenarios.Load([]string{filepath.Join(copied, "scenario.yaml")})
	golden.Must(t, err)
	return set
}

// leak makes a ConfigMap in the default namespace, outside of every scenario's namespace.
func leak(client dynamic.Interface, _ []string) error {
	_, err := client.Resource(configMaps).Namespace("default").Create(context.Background(),
		&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "leak"},
		}}, metav1.CreateOptions{})
	return err
}

// Objects that a command makes outside of its namespace do not reach any other scenario.
func TestContamination(t *testing.T) {
	result := execute(t, clustertest.Local(t), besideProgram(t, "testdata/contamination"), 1)
	passed := 0
	for _, track := range result.Tracks {
		for _, s := range track.Scenarios {
			if s.Status != reports.Passed {
				t.Errorf("%s is %s:\n%s", s.Name, s.Status, explain(result))
			}
			passed++
		}
	}
	if passed != 3 {
		t.Errorf("%d of 3 scenarios ran", passed)
	}
}

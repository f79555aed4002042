package forwarding

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestKubeconfigUsesTheProxy(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	config := api.NewConfig()
	config.Clusters["a"] = &api.Cluster{Server: "https://127.0.0.1:1"}
	config.Contexts["a"] = &api.Context{Cluster: "a"}
	config.CurrentContext = "a"
	golden.Must(t, clientcmd.WriteToFile(*config, from))
	proxy, err := Kubeconfig(from, to)
	golden.Must(t, err)
	defer proxy.Close()
	written, err := clientcmd.LoadFromFile(to)
	golden.Must(t, err)
	if got := written.Clusters["a"].Server; got != proxy.URL() {
		t.Errorf("server is %s, want %s", got, proxy.URL())
	}
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the file: %v, %v", info.Mode(), err)
	}
	if _, err := Kubeconfig(filepath.Join(t.TempDir(), "missing"), to); err == nil {
		t.Error("a missing kubeconfig was accepted")
	}
}

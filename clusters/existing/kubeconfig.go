package existing

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Access is how a kubeconfig reaches a cluster.
type Access struct {
	Config *rest.Config
	// File, and the names of the context and the cluster in it.
	File, Context, Cluster string

	// raw is the content of all files that were read. Its paths are absolute.
	raw clientcmdapi.Config
}

// ReadKubeconfig reads a file ("": the default places) for a context ("": its current one).
func ReadKubeconfig(file, context string) (Access, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: context})
	config, err := loader.ClientConfig()
	raw, rawErr := loader.RawConfig()
	if err := cmp.Or(err, rawErr); err != nil {
		return Access{}, fmt.Errorf("read kubeconfig %s: %w; kubectl config get-contexts lists the contexts, and "+
			"--kubeconfig names another file", cmp.Or(file, strings.Join(rules.Precedence, ", ")), err)
	}
	a := Access{Config: config, File: file, Context: context, raw: raw}
	if context == "" {
		a.Context = raw.CurrentContext
	}
	if file == "" {
		a.File = rules.GetDefaultFilename()
	}
	if named := raw.Contexts[a.Context]; named != nil {
		a.Cluster = named.Cluster
	}
	return a, nil
}

// write writes a kubeconfig that has only the context into a folder, mode 0600, and returns its path. So a program that
// gets it reaches no other cluster, even if the user changes the current context meanwhile. Certificates stay in their
// files, because other programs may renew them. Without a context, Rehearse uses the cluster in which it runs; then
// there is nothing to write, and the path is that of the user's file.
func (a Access) write(dir string) (string, error) {
	if a.raw.Contexts[a.Context] == nil {
		return a.File, nil
	}
	config := a.raw
	config.CurrentContext = a.Context
	if err := clientcmdapi.MinifyConfig(&config); err != nil {
		return "", fmt.Errorf("take context %s out of the kubeconfig: %w", a.Context, err)
	}
	path := filepath.Join(dir, "kubeconfig")
	if err := clientcmd.WriteToFile(config, path); err != nil {
		return "", fmt.Errorf("write the kubeconfig of context %s: %w", a.Context, err)
	}
	return path, nil
}

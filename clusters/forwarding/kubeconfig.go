package forwarding

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
)

// Kubeconfig starts a proxy for the API server of a kubeconfig, and writes a kubeconfig that uses the proxy, mode 0600.
func Kubeconfig(from, to string) (*Proxy, error) {
	config, err := clientcmd.LoadFromFile(from)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig %s: %w", from, err)
	}
	client, err := clientcmd.NewDefaultClientConfig(*config, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig %s: %w", from, err)
	}
	proxy, err := Listen(client)
	if err != nil {
		return nil, err
	}
	for _, cluster := range config.Clusters {
		cluster.Server = proxy.URL()
	}
	if err := clientcmd.WriteToFile(*config, to); err != nil {
		_ = proxy.Close()
		return nil, fmt.Errorf("write kubeconfig %s: %w", to, err)
	}
	return proxy, nil
}

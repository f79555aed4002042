package record

// Files in a cluster's folder.
const (
	kubeconfigFile = "kubeconfig"
	ConfigFile     = "kind.yaml"
)

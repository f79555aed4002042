package settings

import (
	"testing"
)

func TestKubeletFlagsGoBackToWhatTheyWere(t *testing.T) {
	const file = `KUBELET_KUBEADM_ARGS="--node-ip=172.18.0.2 --v=2"` + "\n"
	ours := map[string]*string{}
	changed := KubeletFlagsFile(file, map[string]string{"max-pods": "20", "v": "4"}, ours)
	if want := `KUBELET_KUBEADM_ARGS="--max-pods=20 --node-ip=172.18.0.2 --v=4"` + "\n"; changed != want {
		t.Errorf("got %q, want %q", changed, want)
	}
	if again := KubeletFlagsFile(changed, map[string]string{"max-pods": "20", "v": "4"}, ours); again != changed {
		t.Errorf("not the same a second time: %q", again)
	}
	if back := KubeletFlagsFile(changed, nil, ours); back != file {
		t.Errorf("got %q with %v, want %q", back, ours, file)
	}
}

func TestAFlagThatIsGone(t *testing.T) {
	const file = `KUBELET_KUBEADM_ARGS="--node-ip=172.18.0.2 --pod-infra-container-image=registry.k8s.io/pause:3.10.1"`
	const without = `KUBELET_KUBEADM_ARGS="--node-ip=172.18.0.2"`
	for version, want := range map[string]string{"1.34.4": file, "1.35.0-rc.1": without, "1.36.3": without} {
		if got := WithoutGoneFlags(file, version); got != want {
			t.Errorf("%s: got %q, want %q", version, got, want)
		}
	}
}

func TestWithGates(t *testing.T) {
	const config = "featureGates: {Old: true}\nkind: KubeletConfiguration\n"
	got, err := WithGates(config, map[string]bool{"New": false})
	if err != nil {
		t.Fatal(err)
	}
	if same, err := SameYAML(got, "kind: KubeletConfiguration\nfeatureGates: {New: false}\n"); err != nil || !same {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err = WithGates(config, nil); err != nil || got != "kind: KubeletConfiguration\n" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := WithGates("", nil); err == nil {
		t.Error("an empty configuration was taken")
	}
}

package nodeimage

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
)

const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// archive is an image in the format of `docker save`, which docker, podman, nerdctl and containerd all load.
type archive struct {
	tag        string
	layers     []layer
	env        []string
	entrypoint []string
	stopSignal string
	labels     map[string]string
}

type imageConfig struct {
	Architecture string    `json:"architecture"`
	OS           string    `json:"os"`
	Created      time.Time `json:"created"`
	Config       runConfig `json:"config"`
	RootFS       rootFS    `json:"rootfs"`
	History      []history `json:"history"`
}

type runConfig struct {
	Env        []string          `json:"Env,omitempty"`
	Entrypoint []string          `json:"Entrypoint,omitempty"`
	StopSignal string            `json:"StopSignal,omitempty"`
	Labels     map[string]string `json:"Labels,omitempty"`
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

type history struct {
	Created   time.Time `json:"created"`
	CreatedBy string    `json:"created_by"`
}

type manifestEntry struct {
	Config   string   `json:"Config"`
	RepoTags []string `json:"RepoTags"`
	Layers   []string `json:"Layers"`
}

// config returns the image's configuration. It is the same for the same layers, so that builds are reproducible.
func (a archive) config() ([]byte, error) {
	c := imageConfig{
		Architecture: runtime.GOARCH, OS: "linux", Created: epoch,
		Config: runConfig{
			Env: a.env, Entrypoint: a.entrypoint, StopSignal: a.stopSignal,
			Labels: a.labels,
		}, RootFS: rootFS{Type: "layers"},
	}
	for _, l := range a.layers {
		c.RootFS.DiffIDs = append(c.RootFS.DiffIDs, "sha256:"+l.digest)
		c.History = append(c.History, history{Created: epoch, CreatedBy: "rehearse node-images"})
	}
	return json.Marshal(c)
}

func (a archive) write(w io.Writer) error { return writeArchive(w, a) }

// writeArchive writes images; it writes files that they share only once.
func writeArchive(w io.Writer, images ...archive) error {
	out := tar.NewWriter(w)
	written := map[string]bool{}
	var manifest []manifestEntry
	for _, image := range images {
		config, err := image.config()
		if err != nil {
			return fmt.Errorf("write image %s: %w", image.tag, err)
		}
		sum := sha256.Sum256(config)
		entry := manifestEntry{Config: hex.EncodeToString(sum[:]) + ".json", RepoTags: []string{image.tag}}
		if !written[entry.Config] {
			if err := writeBytes(out, entry.Config, config); err != nil {
				return err
			}
			written[entry.Config] = true
		}
		for _, l := range image.layers {
			name := l.digest + ".tar"
			entry.Layers = append(entry.Layers, name)
			if written[name] {
				continue
			}
			written[name] = true
			if err := l.copyTo(out, name); err != nil {
				return fmt.Errorf("write image %s: %w", image.tag, err)
			}
		}
		manifest = append(manifest, entry)
	}
	data, err := json.Marshal(manifest)
	if err != nil {
		return err
	}
	if err := writeBytes(out, "manifest.json", data); err != nil {
		return err
	}
	return out.Close()
}

func writeBytes(out *tar.Writer, name string, data []byte) error {
	if err := out.WriteHeader(&tar.Header{
		Name: name, Mode: 0o644, Size: int64(len(data)), ModTime: epoch,
		Typeflag: tar.TypeReg,
	}); err != nil {
		return err
	}
	_, err := out.Write(data)
	return err
}

func (l layer) copyTo(out *tar.Writer, name string) error {
	file, err := os.Open(l.path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := out.WriteHeader(&tar.Header{
		Name: name, Mode: 0o644, Size: l.size, ModTime: epoch,
		Typeflag: tar.TypeReg,
	}); err != nil {
		return err
	}
	_, err = io.Copy(out, file)
	return err
}

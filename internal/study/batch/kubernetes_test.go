package batch

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

// Manifests are Jobs of batch/v1 without an unknown field, on a volume and with a NATS server.
func TestManifests(t *testing.T) {
	for _, p := range []Pods{{Image: "registry/railyard:1", Parts: 4, Claim: "studies", Mount: "/mnt/studies"},
		{Image: "registry/railyard:1", Parts: 4}} {
		text, err := p.job(kubeName("/tmp/Sweep WRED", "1"), []string{"worker", "--part", "index/4"})
		if err != nil {
			t.Fatal(err)
		}
		var j batchv1.Job
		if err := yaml.UnmarshalStrict(text, &j); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		pod := j.Spec.Template.Spec
		if !strings.HasPrefix(j.Name, "railyard-sweep-wred-") || !strings.HasSuffix(j.Name, "-1") || j.APIVersion != "batch/v1" || j.Kind != "Job" ||
			*j.Spec.Completions != 4 || *j.Spec.Parallelism != 4 ||
			*j.Spec.CompletionMode != batchv1.IndexedCompletion || *j.Spec.BackoffLimitPerIndex != 3 ||
			pod.RestartPolicy != "Never" || len(pod.Containers) != 1 ||
			strings.Join(pod.Containers[0].Command, " ") != "railyard worker --part index/4" {
			t.Errorf("%+v", j)
		}
		c := pod.Containers[0]
		if p.Claim != "" && (pod.Volumes[0].PersistentVolumeClaim.ClaimName != "studies" ||
			c.VolumeMounts[0].MountPath != "/mnt/studies" || c.VolumeMounts[0].Name != pod.Volumes[0].Name) {
			t.Errorf("volumes %+v, %+v", pod.Volumes, c.VolumeMounts)
		}
		if p.Claim == "" && (c.Env[0].Name != tokenName || c.Env[0].ValueFrom.SecretKeyRef.Key != "token") {
			t.Errorf("%+v", c.Env)
		}
	}
	if a, b := kubeName("/tmp/a/lb", "1"), kubeName("/tmp/b/lb", "1"); a == b || a != kubeName("/tmp/a/lb", "1") {
		t.Errorf("%s and %s", a, b)
	}
	if long := kubeName("/tmp/"+strings.Repeat("x", 100), "workers"); len(long) > 63 {
		t.Errorf("%s has %d letters", long, len(long))
	}
	for _, bad := range []string{"", "studies", ":/mnt", "studies:mnt"} {
		if _, _, err := ParseVolume(bad); err == nil || !strings.Contains(err.Error(), "accepted: CLAIM:PATH") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

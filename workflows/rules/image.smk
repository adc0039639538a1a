rule image:
    input:
        "images/{image}.yaml",
        "images/locks/{image}.tsv",
        FLOW.image_sources,
    output:
        "results/images/{image}.json",
    log:
        directory("results/logs/image/{image}"),
    resources:
        mem_mb=800,
    shell:
        "zassay image build {wildcards.image} --link results/images/{wildcards.image} --log-dir {log}"
        " && cp results/images/{wildcards.image}/manifest.json {output}"

/** What `functions-deployment-guide` answers. Every command and file in it is run by the tests. */
export const deploymentGuide = `# Deploy a functions project

Use this for several files, a dependency manifest (package.json, requirements.txt, go.mod,
composer.json), a build script or an existing project.yml. One file without dependencies needs none
of it: call functions-create-or-update-action with the source as Code. Ask before making a project of
something that could be one file.

## 1. Preflight

- \`cove status\` shows that Cove runs; \`cove up\` starts it.
- The token needs the scopes function:read, function:create, function:update and function:admin.

## 2. Namespace

Call functions-list-namespaces. Is there none, call functions-create-namespace with Label and Region.
Note its id (fn-…). A project goes to one namespace; \`--namespace\` names it.

## 3. Project

\`\`\`
my-project/
  project.yml
  packages/
    tools/                package; "default" means no package
      hello/              function of several files
        index.js          nodejs: index.js or "main" of package.json
        package.json
      bye.py              function of one file
\`\`\`

\`\`\`yaml
parameters: {}                 # for every function
environment: {}                # environment variables for every function
packages:
  - name: tools
    parameters: {}
    functions:
      - name: hello
        runtime: nodejs:20     # left out: by the file's ending
        main: main
        web: true              # also over plain HTTP; raw, or false
        parameters: { greeting: Hello }
        environment: { SECRET: "\${SECRET}" }   # from .env or the shell
        limits: { timeout: 60000, memory: 256, logs: 10 }
        triggers:
          - name: hourly
            sourceType: scheduler
            sourceDetails: { cron: "0 * * * *", withBody: { from: cron } }
\`\`\`

Entry files: nodejs \`index.js\` or package.json "main", exporting main; python \`__main__.py\` with
\`def main(args)\`; go package main with \`func Main(args map[string]interface{}) map[string]interface{}\`;
php \`index.php\` with \`function main(array $args)\`. A function returns an object.

## 4. Local or remote build

A function is built when it has \`build.sh\` or a manifest: npm install --omit=dev, pip install into
virtualenv/, go build, composer install. What \`.ignore\` names is left out of the archive.

- Local (the default): the steps run on this machine, with its tools and its network.
- Remote (\`--remote-build\`): the sources are sent and built inside Cove, isolated as functions are.
  Use it where the tools are missing here, or where native parts must fit the runtime.

## 5. Deploy

\`\`\`
cove functions deploy my-project --namespace fn-…
cove functions deploy my-project --namespace fn-… --remote-build
cove functions deploy my-project --namespace fn-… --include tools/hello
\`\`\`

It prints one line for each package, function and trigger, and ends with an error if one failed.
Deploying again updates what is there.

## 6. Verify

1. functions-get-action shows the new version.
2. functions-invoke-action with a small Payload: look at response.success and result.
3. functions-get-activation-logs when it failed.
4. A web function answers at {api_host}/api/v1/web/{namespace}/{package}/{function}.
`

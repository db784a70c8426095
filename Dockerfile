# Cove in a container. Instances and sandboxes need more rights than a container has by default;
# "cove doctor" inside says what is real.
#   docker build -t cove .
#   docker run -p 127.0.0.1:8787:8787 -v cove:/data cove
FROM node:20-bookworm-slim
WORKDIR /opt/cove
COPY . .
RUN node scripts/setup.mjs start && apt-get clean && rm -rf /var/lib/apt/lists/* /root/.npm
ENV COVE_HOME=/data
VOLUME /data
EXPOSE 8787
ENTRYPOINT ["node", "bin/cove.cjs"]
CMD ["up", "--host", "0.0.0.0"]
